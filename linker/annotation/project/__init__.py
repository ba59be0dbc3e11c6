"""Projects: labeling that is set up, shared and finished in the browser."""
