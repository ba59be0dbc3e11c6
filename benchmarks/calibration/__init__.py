"""Coverage of thresholds and their intervals on labeled posts."""
