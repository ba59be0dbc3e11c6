"""Startup time of the commands."""
