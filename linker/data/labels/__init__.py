"""Labels of posts: read from the files of every tool, and matched with posts."""
