"""Transformers as ONNX graphs in int8, which score without torch."""
