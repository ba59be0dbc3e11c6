"""The ways to find pairs of tweets, one a file."""
