"""What can be done with a campaign: one transaction each."""
