"""Rows of tables as articles and posts: columns, dates, ids, records of platforms."""
