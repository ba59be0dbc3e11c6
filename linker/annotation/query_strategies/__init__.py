"""Query strategies: which post to label next."""
