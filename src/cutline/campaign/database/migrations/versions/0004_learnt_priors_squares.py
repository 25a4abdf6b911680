"""What is learnt from the results of all arms, how arms are decided, and the squares of rewards.

A campaign that is there keeps its prior, and the rule by which its arms are decided: the side of the mean.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_UNIT = 10**9
_BETWEEN = f"reward > 0 AND reward < {_UNIT}"
_SQUARES = f"""
UPDATE cutline_arms SET squares = total - (
    SELECT sum(reward - (reward * reward + {_UNIT // 2}) / {_UNIT}) FROM cutline_pulls
    WHERE arm = cutline_arms.number AND {_BETWEEN}
)
WHERE number IN (SELECT arm FROM cutline_pulls WHERE {_BETWEEN})
"""
_REDO = """
UPDATE cutline_campaigns SET up_to_date = 0
WHERE id IN (SELECT campaign_id FROM cutline_arms WHERE squares <> total)
"""


def upgrade() -> None:
    op.create_table(
        "cutline_learnt",
        sa.Column("campaign_id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("generation", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("time", sa.Double, nullable=False),
        sa.Column("results", sa.BigInteger, nullable=False),
        sa.Column("knowledge", sa.Text, nullable=False),
    )
    for name in ("prior_a", "prior_b"):  # they become nullable, without a copy of the table, which would forget ids
        op.execute(f"ALTER TABLE cutline_campaigns RENAME COLUMN {name} TO old_{name}")
        op.add_column("cutline_campaigns", sa.Column(name, sa.Double))
        op.execute(f"UPDATE cutline_campaigns SET {name} = old_{name}")
        op.execute(f"ALTER TABLE cutline_campaigns DROP COLUMN old_{name}")
    op.add_column("cutline_campaigns", sa.Column("decide", sa.Text, nullable=False, server_default="mean"))
    for name in ("generation", "learnt_from", "up_to_date"):
        op.add_column("cutline_campaigns", sa.Column(name, sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("cutline_campaigns", sa.Column("learn_at", sa.BigInteger))
    for name in ("squares", "generation"):
        op.add_column("cutline_arms", sa.Column(name, sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("cutline_import_arms", sa.Column("squares", sa.BigInteger, nullable=False, server_default="0"))
    for table in ("cutline_arms", "cutline_import_arms"):
        op.execute(f"UPDATE {table} SET squares = total")
    op.execute(f"CREATE INDEX cutline_between ON cutline_pulls (arm) WHERE {_BETWEEN}")
    op.execute(_SQUARES)
    op.execute("DROP INDEX cutline_between")
    op.execute("UPDATE cutline_campaigns SET up_to_date = arms")
    op.execute(_REDO)
