"""Summary of a corpus."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow.compute as pc

from linker.corpus.storage.reader import batches
from linker.corpus.storage.store import Store

_LANGUAGES = 8


def summary(store: Store) -> dict[str, str]:
    """Return name → text to show, in order."""
    dataset = store.dataset()
    first, last, languages = None, None, Counter[str]()
    if dataset is not None:
        for batch in batches(dataset, ["created_at", "lang"]):
            ends = pc.min_max(batch.column("created_at")).as_py()
            if ends["min"] is not None:
                first = min(first or ends["min"], ends["min"])
                last = max(last or ends["max"], ends["max"])
            for entry in pc.value_counts(batch.column("lang")).to_pylist():
                languages[entry["values"] or "unknown"] += entry["counts"]
    shown = [f"{name} {count:,}" for name, count in languages.most_common(_LANGUAGES)]
    rest = len(languages) - _LANGUAGES
    return {
        "posts": f"{store.count():,}",
        "from": f"{first:%Y-%m-%d %H:%M} UTC" if first else "unknown",
        "to": f"{last:%Y-%m-%d %H:%M} UTC" if last else "unknown",
        "languages": ", ".join(shown) + (f" and {rest} more" if rest > 0 else "") or "unknown",
        "model": store.facts.model,
        "vectors": f"{store.facts.dim} dimensions, {store.facts.similarity}",
        "on disk": f"{_size(store.folder) / 1e6:,.1f} MB",
    }


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
