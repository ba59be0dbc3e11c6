"""Readers of article–post pairs, one a file."""
