"""Links to articles: found in texts, unwrapped, and reduced to a key that all links to one article share."""
