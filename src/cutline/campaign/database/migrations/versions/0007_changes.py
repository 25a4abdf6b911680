"""What was changed of campaigns, and arms that are retired."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "cutline_changes",
        sa.Column("campaign_id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("time", sa.Double, nullable=False),
        sa.Column("what", sa.Text, nullable=False),
        sa.Column("before", sa.Text, nullable=False),
        sa.Column("after", sa.Text, nullable=False),
    )
    for name in ("changed_at", "version", "retired"):
        op.add_column("cutline_campaigns", sa.Column(name, sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("cutline_arms", sa.Column("retired", sa.Boolean, nullable=False, server_default=sa.false()))
