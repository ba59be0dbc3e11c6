"""Dataset readers: files to linked articles and posts."""
