"""Embedders, one a file."""
