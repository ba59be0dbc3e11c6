"""Campaigns that try to make linker lose, hang or leak (docs/reliability.md)."""
