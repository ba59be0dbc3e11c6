"""Stopping rules, one a file."""
