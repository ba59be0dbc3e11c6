"""Ways to divide articles and posts, one a file."""
