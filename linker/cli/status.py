"""Messages on standard error. Imports nothing slow."""

import sys


def say(message: str) -> None:
    """Print a message."""
    print(message, file=sys.stderr, flush=True)


def step(text: str) -> None:
    """Print the next step on a terminal."""
    if sys.stderr.isatty():
        say(f"{text} ...")
