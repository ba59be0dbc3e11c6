"""The model folders that linker brings along."""

from __future__ import annotations

from pathlib import Path

DISTILLED = "distilled"
"""What users call it; `scripts/make_distilled.py` makes it."""

FOLDERS = {DISTILLED: Path(__file__).parent / DISTILLED}
