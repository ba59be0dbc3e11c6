"""Bi-encoders: one encoder for articles and posts."""
