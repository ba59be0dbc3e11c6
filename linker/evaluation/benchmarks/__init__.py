"""Benchmarks: reranking sets and sentence similarity."""
