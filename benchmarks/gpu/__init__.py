"""Checks and measurements on a GPU."""
