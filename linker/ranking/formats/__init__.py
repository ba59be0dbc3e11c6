"""The files that a ranking is written to, one format a module."""
