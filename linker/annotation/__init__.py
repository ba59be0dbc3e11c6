"""Which post to label next, when to stop, and how labels are kept."""
