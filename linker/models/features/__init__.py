"""Features: what models read of posts, and the tables that hold them."""
