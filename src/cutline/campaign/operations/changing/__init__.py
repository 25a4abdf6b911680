"""Campaigns are made, changed, copied and deleted, and their arms come and go."""
