"""Embedders: token ids to token vectors."""
