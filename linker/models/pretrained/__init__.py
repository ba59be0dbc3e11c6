"""The bundled, pretrained model folders."""

from pathlib import Path

#: The default model of all commands that rank; made by `scripts/make_pretrained.py`.
BEST = "best"

#: Distilled word vectors with TF-IDF; made by `scripts/make_pretrained.py`.
DISTILLED = "distilled"

_HERE = Path(__file__).parent

#: Name of a bundled model → its folder.
FOLDERS = {BEST: _HERE / BEST, DISTILLED: _HERE / DISTILLED}

#: The part of `best` for other languages than English.
MULTILINGUAL = _HERE / BEST / "part-3" / "multilingual"
