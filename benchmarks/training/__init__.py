"""Time, memory and precision of training steps, and resumed runs."""
