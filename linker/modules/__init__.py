"""Building blocks of models: tensors in, tensors out."""
