"""What the Adaptive Star Transformer spends its time on, once in plain torch and once per kind of hardware."""
