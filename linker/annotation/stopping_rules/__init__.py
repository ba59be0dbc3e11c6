"""Stopping rules: when to stop labeling."""
