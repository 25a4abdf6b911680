"""Simulated games: the reward table, the engines that read it, the choice between them, and what comes out."""
