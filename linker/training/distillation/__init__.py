"""Knowledge distillation from a sentence transformer."""
