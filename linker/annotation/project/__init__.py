"""Projects: labeling jobs that are set up, shared and finished in the browser."""
