"""JSON Lines: all fields of a label."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linker.annotation.formats.label_format import (
    LabelFormat,
    write_json_lines,
)
from linker.annotation.formats.records import LabeledPost
from linker.data.labels.collector import text_in
from linker.data.types import Post


@LabelFormat.register("jsonl")
class JsonLinesFormat(LabelFormat):
    """One JSON object per label: post_id, text, article_id, score, label, annotator, note, time, created_at; if needed,
    choice (its name in the label set), machine (true: a program gave it), adjudicated (true: it settles several
    labels), sample (how the post was drawn: random, or the query strategy), platform, author, url and source."""

    marks_machines = True

    def write(self, path: Path, records: Sequence[LabeledPost], guidelines: str = "") -> list[Path]:
        """Write the records; return the files written."""
        write_json_lines(path, map(flat, records))
        return [path]


def flat(record: LabeledPost) -> dict[str, Any]:
    """Return a label as one flat object."""
    created, time = record.post.created_at, record.time
    return {
        "post_id": record.post.id,
        "text": record.post.text,
        "article_id": record.article_id,
        "score": record.score,
        "label": record.value,
        "annotator": record.annotator,
        "note": record.note,
        "time": time and time.isoformat(),
        "created_at": created and created.isoformat(),
        **({"choice": record.choice} if record.choice is not None else {}),
        **({"machine": True} if record.machine else {}),
        **({"adjudicated": True} if record.adjudicated else {}),
        **({"sample": record.sample} if record.sample is not None else {}),
        **about(record.post),
    }


def about(post: Post) -> dict[str, str]:
    """Return where a post is from, as far as known: by platform, author and time, it is found without an id."""
    known = {name: text_in(post.extra.get(name)) for name in ("platform", "author", "url")}
    return {name: value for name, value in {**known, "source": post.source}.items() if value}
