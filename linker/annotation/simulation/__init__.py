"""Simulation of labeling with posts whose labels are known."""
