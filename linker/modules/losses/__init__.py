"""Losses over embeddings of articles and posts."""
