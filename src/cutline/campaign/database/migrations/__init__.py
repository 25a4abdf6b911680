"""Schema versions: each file in versions/ leads from one to the next, and what has been released never changes."""

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from cutline.campaign.database.schema import HEAD, VERSION_TABLE
from cutline.errors import StoreError

LOCATION = "cutline.campaign.database:migrations"
VERSIONS = [f"{LOCATION}/versions"]


def upgrade(connection: Connection, label: str) -> None:
    """Bring the database to the present schema version within the connection's transaction.

    ``label`` names the database in messages. Raises StoreError for a version that this code does not know.
    """
    config = Config()
    config.set_main_option("script_location", LOCATION)
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", "\n".join(VERSIONS))
    config.attributes["connection"] = connection
    version = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE}).get_current_revision()
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if version is not None and version not in known:
        raise StoreError(
            f"{label}: written by a newer Cutline (schema {version}, this one reads up to {HEAD}); upgrade Cutline"
        )
    command.upgrade(config, "head")
