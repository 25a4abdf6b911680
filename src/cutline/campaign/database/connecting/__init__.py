"""Where a database is, and how it is connected to."""
