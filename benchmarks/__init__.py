"""Benchmarks: one package per subject, run from the repository root, such as `python -m benchmarks.quality`."""
