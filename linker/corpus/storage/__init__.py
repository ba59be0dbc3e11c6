"""Storage of a corpus."""
