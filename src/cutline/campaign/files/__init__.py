"""Campaigns into files and out of them."""
