"""Corpora: posts encoded once, searched for any article."""
