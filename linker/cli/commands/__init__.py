"""Subcommands of `linker`, one module each."""
