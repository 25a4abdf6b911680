"""Arms are found in the order of their probability of error."""

from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_index("cutline_arms_doubt", "cutline_arms", ["campaign_id", "doubt", "number", "decision"])
