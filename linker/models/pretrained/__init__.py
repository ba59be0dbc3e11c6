"""The model folders that linker brings along."""

from __future__ import annotations

from pathlib import Path

BEST = "best"
"""What users call it, and what ranks where they name no model; `scripts/make_best.py` makes it."""

DISTILLED = "distilled"
"""What users call it, a part of the other; `scripts/make_distilled.py` makes it."""

_HERE = Path(__file__).parent

FOLDERS = {BEST: _HERE / BEST, DISTILLED: _HERE / BEST / "part-2" / DISTILLED}
