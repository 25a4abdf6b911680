"""Notes, times and corrections of answers, requests of asks, the curve of progress, and what is decided of each arm.

When results came in that are there is not known. What is decided of their arms is computed as the arms are brought up
to date.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_UNDECIDED, _NOT_KNOWN = 2, 3


def upgrade() -> None:
    for table in ("cutline_pulls", "cutline_import_pulls"):
        op.add_column(table, sa.Column("note", sa.Text))
        op.add_column(table, sa.Column("time", sa.Double))
    op.create_index("cutline_pulls_arm", "cutline_pulls", ["arm"])
    op.add_column(
        "cutline_arms", sa.Column("decision", sa.SmallInteger, nullable=False, server_default=str(_UNDECIDED))
    )
    op.execute(f"UPDATE cutline_arms SET decision = {_NOT_KNOWN} WHERE pulls > 0")
    op.add_column("cutline_campaigns", sa.Column("decided", sa.BigInteger, nullable=False, server_default="0"))
    op.execute(
        "UPDATE cutline_campaigns SET decided = "
        "(SELECT count(*) FROM cutline_arms WHERE campaign_id = cutline_campaigns.id AND pulls > 0)"
    )
    op.execute("UPDATE cutline_campaigns SET up_to_date = 0 WHERE decided > 0")
    op.create_table(
        "cutline_corrections",
        sa.Column("pull", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("nth", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("time", sa.Double, nullable=False),
        sa.Column("worker", sa.Text),
        sa.Column("reward", sa.BigInteger, nullable=False),
        sa.Column("note", sa.Text),
    )
    op.create_table(
        "cutline_requests",
        sa.Column("digest", sa.LargeBinary, primary_key=True),
        sa.Column("campaign_id", sa.Integer, nullable=False),
        sa.Column("first", sa.BigInteger, nullable=False),
        sa.Column("pulls", sa.BigInteger, nullable=False),
        sa.Column("wanted", sa.BigInteger, nullable=False),
        sa.Column("expires", sa.Double, nullable=False),
        sa.Column("reason", sa.Text),
    )
    op.create_index("cutline_requests_expires", "cutline_requests", ["campaign_id", "expires"])
    op.create_table(
        "cutline_progress",
        sa.Column("campaign_id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("time", sa.Double, nullable=False),
        sa.Column("spent", sa.BigInteger, nullable=False),
        sa.Column("observed", sa.BigInteger, nullable=False),
        sa.Column("decided", sa.BigInteger, nullable=False),
        sa.Column("doubt", sa.BigInteger, nullable=False),
    )
