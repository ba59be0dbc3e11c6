"""Pairs of tweets that belong together, and reranking sets, out of archives of tweet objects."""
