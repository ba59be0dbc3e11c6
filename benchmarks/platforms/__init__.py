"""Throughput and memory of reading the exports of platforms."""
