"""Pulls get their rewards, and a reward is corrected."""
