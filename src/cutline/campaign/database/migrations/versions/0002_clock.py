"""The clock of an SQLite file."""

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
