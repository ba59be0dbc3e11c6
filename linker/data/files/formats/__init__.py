"""Formats of tables of articles and posts: delimited text, JSON, Parquet, spreadsheets."""
