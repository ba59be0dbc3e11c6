"""Sessions: labels given by several people, kept in a SQLite file."""
