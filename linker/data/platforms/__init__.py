"""Formats of posts, as platforms and collection tools write them: a table each."""
