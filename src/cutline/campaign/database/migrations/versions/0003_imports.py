"""Imports that are under way: their state, what they add to arms, and what they make of pulls that are there."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    op.create_table(
        "cutline_imports",
        sa.Column("campaign_id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("token", sa.Text, nullable=False),
        sa.Column("until", sa.Double, nullable=False),
        sa.Column("first", sa.BigInteger, nullable=False),
        sa.Column("decided", sa.Boolean, nullable=False),
    )
    op.create_table(
        "cutline_import_arms",
        sa.Column("arm", number, primary_key=True, autoincrement=False),
        sa.Column("pulls", sa.BigInteger, nullable=False),
        sa.Column("total", sa.BigInteger, nullable=False),
        sa.Column("in_flight", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "cutline_import_pulls",
        sa.Column("number", number, primary_key=True, autoincrement=False),
        sa.Column("state", sa.SmallInteger, nullable=False),
        sa.Column("reward", sa.BigInteger),
    )
