"""The database of campaigns: tables, statements, counters, schema versions."""
