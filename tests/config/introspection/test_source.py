"""Source text is parsed, whichever threads ask for it."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from linker.config.introspection.source import parsed

TEXT = "def f(x: int = 1) -> list[int]:\n    return [x + [1, {2: (x, 3)}][0]]\n" * 100


@pytest.fixture
def switching() -> Iterator[None]:
    """Let another thread run whenever garbage is collected, as a destructor that waits does."""

    def wait(phase: str, info: object) -> None:
        time.sleep(1e-6)

    threshold = gc.get_threshold()
    gc.set_threshold(50)
    gc.callbacks.append(wait)
    yield
    gc.callbacks.remove(wait)
    gc.set_threshold(*threshold)


def test_several_threads_parse_at_once(switching: None) -> None:
    problems: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(5):
                parsed(TEXT)
        except SystemError as error:  # "AST constructor recursion depth mismatch" of Python 3.11
            problems.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == [], sys.version
