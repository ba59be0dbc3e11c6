"""Throughput and memory of `linker mine links`."""
