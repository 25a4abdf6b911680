"""The rows of each table as transactions read and write them."""
