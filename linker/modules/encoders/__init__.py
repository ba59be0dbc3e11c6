"""Encoders: token vectors to one vector per text."""
