"""Evaluation: metrics, comparison of models, significance, TREC files."""
