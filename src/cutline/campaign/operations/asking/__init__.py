"""Pulls are asked for, and what becomes of them until they are told."""
