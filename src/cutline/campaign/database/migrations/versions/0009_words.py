"""A campaign has its own words for the page to label on: the question, labels and keys of the two answers."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    for name in ("question", "labels_a", "labels_b", "keys_a", "keys_b"):
        op.add_column("cutline_campaigns", sa.Column(name, sa.Text))
