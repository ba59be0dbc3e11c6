"""Tables of labels: CSV and workbooks of Excel, and datasets of ASReview (https://asreview.readthedocs.io)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from linker.annotation.codebook import Question
from linker.annotation.formats.jsonl import about, flat, is_of_platform
from linker.annotation.formats.label_format import LabeledPost, LabelFormat, by_post, sample_of
from linker.common.files import atomic_write
from linker.data.files.formats.delimited import SIGN, guarded
from linker.ranking.formats.binary import write_sheet

_COLUMNS = ("post_id", "text", "article_id", "score", "label", "annotator", "note", "time", "created_at")
_ORIGIN = ("lang", "platform", "author", "url", "source")
# Columns of records that need them.
_OPTIONAL = ("note_time", "answers_time", "choice", "machine", "adjudicated", "sample", "blind", *_ORIGIN)
_ASREVIEW = (
    "post_id", "abstract", "included", "annotator", "note", "time", "article_id", "score", "created_at", "sample",
    "blind", *_ORIGIN,
)  # fmt: skip


@LabelFormat.register("csv")
class CsvFormat(LabelFormat):
    """One line per label, with the columns of `jsonl`; text that a spreadsheet would run as a formula begins with '."""

    marks_machines = True

    def write(self, path: Path, records: Sequence[LabeledPost], guidelines: str = "") -> list[Path]:
        """Write the records; return the files written."""
        _write_csv(path, _columns(records, self.questions), map(flat, records))
        return [path]


@LabelFormat.register("asreview")
class AsreviewFormat(LabelFormat):
    """A dataset for ASReview, one line per post with its text as `abstract`.

    ASReview has one label per post: the adjudicated one, or the majority of the annotators; none for skipped posts.
    Annotator, note and time are columns that ASReview keeps.
    """

    one_per_post = True

    def write(self, path: Path, records: Sequence[LabeledPost], guidelines: str = "") -> list[Path]:
        """Write the records; return the files written."""
        _write_csv(path, [*_ASREVIEW, *_answers(records, self.questions)], map(_included, by_post(records)))
        return [path]


@LabelFormat.register("xlsx")
class ExcelFormat(LabelFormat):
    """One sheet with the columns of `csv`; no cell is a formula, and ids keep all their digits."""

    marks_machines = True

    def write(self, path: Path, records: Sequence[LabeledPost], guidelines: str = "") -> list[Path]:
        """Write the records; return the files written.

        Raises:
            LinkerError: if there are more records than a sheet holds.
        """
        with atomic_write(path, "wb") as file:
            write_sheet(file, "labels", _columns(records, self.questions), map(flat, records), len(records))
        return [path]


def _answers(records: Sequence[LabeledPost], questions: Sequence[Question]) -> dict[str, None]:
    """Return the columns of answers, in the order of the questions."""
    asked = (question.column for question in questions)
    return dict.fromkeys([*asked, *(name for record in records for name in record.columns)])


def _columns(records: Sequence[LabeledPost], questions: Sequence[Question]) -> list[str]:
    """Return the columns that records need, in order."""
    names = dict.fromkeys(name for record in records for name in flat(record))
    optional, answers = (name for name in _OPTIONAL if name in names), _answers(records, questions)
    return [*_COLUMNS, *answers, *optional, *filter(is_of_platform, names)]


def _write_csv(path: Path, columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> None:
    """Write a table in which no cell is run as a formula by a spreadsheet."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\r\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {name: guarded(cell, SIGN) if isinstance(cell, str) else cell for name, cell in row.items()}
        )
    with atomic_write(path, "wb") as file:
        # Lone surrogates, as in broken JSON, cannot be encoded in UTF-8.
        file.write(text.getvalue().encode("utf-8", "replace"))


def _included(group: Sequence[LabeledPost]) -> dict[str, Any]:
    """Return the row of a post in a dataset of ASReview."""
    first, voters = group[0], [record for record in group if record.value in ("relevant", "not")]
    lead = sum(1 if record.value == "relevant" else -1 for record in voters)
    row: dict[str, Any] = dict.fromkeys(_ASREVIEW, "") | {
        "post_id": first.post.id,
        "abstract": first.post.text,
        "included": "1" if lead > 0 else "0" if lead < 0 else "",
        "article_id": first.article_id,
        "score": first.score,
        **sample_of(group),
        **about(first.post),
    }
    if len(voters) == 1:
        (voter,) = voters
        row |= {"annotator": voter.annotator or "", "note": voter.note or ""}
        row |= {"time": voter.time.isoformat() if voter.time else "", **voter.columns}
    return row
