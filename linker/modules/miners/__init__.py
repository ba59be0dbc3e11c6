"""Miners, one a file."""
