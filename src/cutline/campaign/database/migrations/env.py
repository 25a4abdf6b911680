"""Run by alembic: the migrations take place in the transaction of the connection that they are given."""

from alembic import context

from cutline.campaign.database.schema import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"], version_table=VERSION_TABLE, transactional_ddl=True
)
context.run_migrations()
