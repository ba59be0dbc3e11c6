"""Campaigns that try to make linker lose, hang or leak (docs/promises.md)."""
