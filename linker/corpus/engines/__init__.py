"""Engines that encode and search a corpus: one process, or a Ray cluster."""
