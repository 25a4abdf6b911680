"""Simulated games: the reward table, two engines that read it, and what comes out."""
