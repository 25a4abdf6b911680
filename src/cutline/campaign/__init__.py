"""Campaigns: ask which arm to measure next, tell what came back, stop when the budget or the errors say so."""
