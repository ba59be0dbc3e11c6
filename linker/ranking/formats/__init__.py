"""File formats of rankings."""
