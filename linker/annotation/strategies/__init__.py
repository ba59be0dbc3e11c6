"""Ordering strategies, one per file."""
