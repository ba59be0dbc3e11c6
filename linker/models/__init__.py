"""Models that score posts for articles."""
