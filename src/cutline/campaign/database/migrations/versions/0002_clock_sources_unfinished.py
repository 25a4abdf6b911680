"""The clock of an SQLite file, the sources that results were imported from, campaigns that are still being made."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    clock = op.create_table(
        "cutline_clock",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("boot", sa.Text, nullable=False),
        sa.Column("began", sa.Double, nullable=False),
        sa.Column("latest", sa.Double, nullable=False),
    )
    op.bulk_insert(clock, [{"id": 1, "boot": "", "began": 0.0, "latest": 0.0}])
    op.create_table(
        "cutline_sources",
        sa.Column("name_digest", sa.LargeBinary, primary_key=True),
        sa.Column("campaign_id", sa.Integer, nullable=False),
        sa.Column("path", sa.Text, nullable=False),
    )
    op.add_column("cutline_campaigns", sa.Column("unfinished_until", sa.Double))
