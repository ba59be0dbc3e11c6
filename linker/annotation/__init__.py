"""Annotation: sessions, query strategies, stopping rules, simulation, label formats."""
