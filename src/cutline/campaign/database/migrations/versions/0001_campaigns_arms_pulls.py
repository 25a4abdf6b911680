"""Campaigns, their arms, their pulls."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    op.create_table(
        "cutline_campaigns",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("token", sa.Text, nullable=False),
        sa.Column("threshold", sa.Double, nullable=False),
        sa.Column("policy", sa.Text, nullable=False),
        sa.Column("budget", sa.BigInteger, nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("max_pulls_per_arm", sa.BigInteger),
        sa.Column("repeat_workers", sa.Boolean, nullable=False),
        sa.Column("prior_a", sa.Double, nullable=False),
        sa.Column("prior_b", sa.Double, nullable=False),
        sa.Column("target_errors", sa.Double),
        sa.Column("arms", sa.BigInteger, nullable=False),
        sa.Column("numbered", sa.BigInteger, nullable=False),
        sa.Column("spent", sa.BigInteger, nullable=False),
        sa.Column("in_flight", sa.BigInteger, nullable=False),
        sa.Column("observed", sa.BigInteger, nullable=False),
        sa.Column("doubt", sa.BigInteger, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "cutline_arms",
        sa.Column("number", number, primary_key=True, autoincrement=False),
        sa.Column("campaign_id", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("name_digest", sa.LargeBinary, nullable=False),
        sa.Column("payload", sa.Text),
        sa.Column("position", sa.BigInteger, nullable=False),
        sa.Column("pulls", sa.BigInteger, nullable=False),
        sa.Column("total", sa.BigInteger, nullable=False),
        sa.Column("in_flight", sa.BigInteger, nullable=False),
        sa.Column("index_value", sa.Double, nullable=False),
        sa.Column("doubt", sa.BigInteger, nullable=False),
    )
    op.create_index("cutline_arms_name", "cutline_arms", ["name_digest"], unique=True)
    op.create_index("cutline_arms_queue", "cutline_arms", ["campaign_id", "index_value", "position", "number"])
    op.create_table(
        "cutline_pulls",
        sa.Column("number", number, primary_key=True, autoincrement=False),
        sa.Column("campaign_id", sa.Integer, nullable=False),
        sa.Column("arm", sa.BigInteger, nullable=False),
        sa.Column("state", sa.SmallInteger, nullable=False),
        sa.Column("expires", sa.Double),
        sa.Column("reward", sa.BigInteger),
        sa.Column("worker", sa.Text),
        sa.Column("worker_digest", sa.LargeBinary),
        sa.Column("key", sa.Text),
        sa.Column("key_digest", sa.LargeBinary),
    )
    for name, columns, where, unique in (
        ("cutline_pulls_expires", ["campaign_id", "expires"], "expires IS NOT NULL", False),
        ("cutline_pulls_worker", ["worker_digest", "arm"], "worker_digest IS NOT NULL", False),
        ("cutline_pulls_key", ["key_digest"], "key_digest IS NOT NULL", True),
    ):
        condition = sa.text(where)
        op.create_index(
            name, "cutline_pulls", columns, unique=unique, sqlite_where=condition, postgresql_where=condition
        )
