"""Campaigns on a server: the same Campaign, over HTTP."""
