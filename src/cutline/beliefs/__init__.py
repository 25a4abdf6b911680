"""What records tell about means: intervals that hold at all times."""
