"""Drives a callable or a shell command over the arms of a campaign."""
