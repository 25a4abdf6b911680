"""Results that come from elsewhere join a campaign."""
