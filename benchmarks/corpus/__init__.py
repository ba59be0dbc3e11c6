"""Build time, search time and memory of corpora."""
