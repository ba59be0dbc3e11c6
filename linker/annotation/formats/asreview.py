"""ASReview: datasets with labels (https://asreview.readthedocs.io)."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linker.annotation.formats.csv import guarded_cell
from linker.annotation.formats.jsonl import about
from linker.annotation.formats.label_format import LabelFormat, by_post
from linker.annotation.formats.records import LabeledPost
from linker.common.files import atomic_write
from linker.data.labels.values import LabelValue

_COLUMNS = (
    "post_id",
    "abstract",
    "included",
    "annotator",
    "note",
    "time",
    "article_id",
    "score",
    "created_at",
    "sample",
    "lang",
    "platform",
    "author",
    "url",
    "source",
)
_INCLUDED: dict[LabelValue, str] = {"relevant": "1", "not": "0"}


@LabelFormat.register("asreview")
class AsreviewFormat(LabelFormat):
    """A dataset for ASReview, one line per post with its text as `abstract`.

    ASReview has one label per post: the adjudicated one, or the majority of the annotators; none for skipped posts.
    Annotator, note and time are columns that ASReview keeps.
    """

    one_per_post = True

    def write(self, path: Path, records: Sequence[LabeledPost], guidelines: str = "") -> list[Path]:
        """Write the records; return the files written."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\r\n", quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(_COLUMNS)
        for group in by_post(records):
            writer.writerow([guarded_cell(value) for value in _row(group)])
        with atomic_write(path, "wb") as file:
            # ASReview reads what is not UTF-8 as Latin-1; lone surrogates cannot be encoded.
            file.write(text.getvalue().encode("utf-8", "replace"))
        return [path]


def _row(group: Sequence[LabeledPost]) -> list[Any]:
    first, given = group[0], [record for record in group if record.value in _INCLUDED]
    relevant = sum(record.value == "relevant" for record in given)
    value: LabelValue = "relevant" if 2 * relevant > len(given) else "not"
    included = "" if 2 * relevant == len(given) else _INCLUDED[value]
    one = given[0] if len(given) == 1 else None
    origin = about(first.post)
    return [
        first.post.id,
        first.post.text,
        included,
        (one and one.annotator) or "",
        (one and one.note) or "",
        one.time.isoformat() if one and one.time else "",
        first.article_id,
        first.score,
        origin.get("created_at", ""),
        first.sample or "",
        *(origin.get(name, "") for name in ("lang", "platform", "author", "url", "source")),
    ]
