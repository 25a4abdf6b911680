"""What is read of a campaign: decisions, pages of them, the history of an arm, who works on it."""
