"""Trained models as ONNX graphs, which score without torch."""
