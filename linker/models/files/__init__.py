"""Model folders: written, read, named, and exchanged with a hub."""
