"""Losses, one a file."""
