"""Ranking posts for an article: the library's front door."""
