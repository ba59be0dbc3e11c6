"""Splitters: which articles and posts are for training, validation and testing."""
