"""Files as tables: opening, encodings, formats, and the lines that cannot be read."""
