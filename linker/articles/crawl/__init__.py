"""A polite crawler for the articles that links lead to: resumable, with a state for every address (decision 070)."""
