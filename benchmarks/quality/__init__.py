"""Ranking quality of every model on the same real posts, and its cost."""
