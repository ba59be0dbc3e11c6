"""Large buffers are kept for the next batch instead of being given back and fetched again."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

# From malloc.h of the GNU C library.
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4
_KEPT = 2**31 - 1


@cache
def keep_buffers() -> bool:
    """Tell the C library to keep up to 2 GiB of freed memory; for the whole process, once.

    By default every large buffer is mapped afresh, and the system fills each of its pages with zeros at first touch:
    in a training step of the star transformer that took as long as a sixth of the arithmetic.

    Returns:
        Whether the C library could be told (the GNU one on Linux).
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:
        return False
    return bool(mallopt(_MMAP_MAX, 0) and mallopt(_TRIM_THRESHOLD, _KEPT))
