"""Errors, files, checks of arguments, progress and concurrency: used everywhere, importing nothing of linker."""
