"""Sentence embeddings from quotes and replies (Di Giovanni and Brambilla 2021)."""
