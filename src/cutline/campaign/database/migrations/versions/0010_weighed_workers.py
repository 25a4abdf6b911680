"""Workers who are weighed: how they count, the evidence on each arm, and answers that are known beforehand."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("cutline_campaigns", sa.Column("workers", sa.Text, nullable=False, server_default="alike"))
    op.add_column("cutline_campaigns", sa.Column("excluded", sa.Text, nullable=False, server_default="[]"))
    op.add_column("cutline_campaigns", sa.Column("known_rate", sa.Double, nullable=False, server_default="0"))
    op.add_column("cutline_arms", sa.Column("evidence", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("cutline_arms", sa.Column("known", sa.SmallInteger))
    known = sa.text("known IS NOT NULL")
    op.create_index(
        "cutline_arms_known",
        "cutline_arms",
        ["campaign_id", "pulls", "position", "number"],
        sqlite_where=known,
        postgresql_where=known,
    )
