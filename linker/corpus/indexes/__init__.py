"""Indexes of a corpus: vectors, words, ids, near-duplicates."""
