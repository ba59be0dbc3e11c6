"""Files of articles and posts: opening, table formats, columns, dates, and the lines that cannot be read."""
