"""The skip-ahead engine: the stepping engine's answers, many times faster."""
