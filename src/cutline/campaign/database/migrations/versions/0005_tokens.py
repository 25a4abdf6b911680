"""The tokens with which a server lets people and machines in."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "cutline_tokens",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("campaign_id", sa.Integer),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("ends", sa.Double),
        sa.Column("parent", sa.Integer),
        sa.Column("once", sa.Boolean, nullable=False),
        sa.UniqueConstraint("name"),
        sqlite_autoincrement=True,
    )
