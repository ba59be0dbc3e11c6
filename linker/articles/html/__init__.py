"""The article of a page in HTML: title, text and date, and whether it is a whole one."""
