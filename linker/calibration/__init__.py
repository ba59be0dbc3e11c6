"""Calibration of scores, and thresholds with intervals."""
