"""Schemas of components: read from source text, so that checking a config imports nothing, or from live classes."""
