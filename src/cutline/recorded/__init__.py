"""Labels that somebody already collected: reading them, the sets that ship, and replaying them."""
