"""Training sets from posts that link to articles: `linker mine links`."""
