"""Reranking: a cross-encoder reads the best posts again, together with the article."""
