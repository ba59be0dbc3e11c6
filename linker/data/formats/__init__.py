"""Files of articles and posts in every format, as rows with line numbers."""
