"""What a campaign does for all arms from time to time: it learns, and ends what an import left."""
