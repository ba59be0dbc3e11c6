"""What command lines say of labels, calibrations and thresholds."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from linker.common.errors import DataError, LinkerError

if TYPE_CHECKING:
    from linker.calibration.calibration import Calibration
    from linker.calibration.thresholds import Threshold, Thresholds
    from linker.models.resolve import ModelReference

_LABELS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


def read_evidence(labels: Path | None, calibration: Path | None) -> Mapping[str, bool] | Calibration | None:
    """What is known of relevance: labels by post id, or a calibration; None: nothing.

    Raises:
        LinkerError: both, or a file that cannot be read.
    """
    if labels is not None and calibration is not None:
        raise LinkerError("--labels and --calibration: give one; labels of the very posts tell more")
    if calibration is not None:
        from linker.calibration.calibration import Calibration

        return Calibration.read(calibration)
    return None if labels is None else read_labels(labels)


def read_labels(path: Path) -> dict[str, bool]:
    """Is it relevant, by post id: what most annotators say, a tie is relevant; skipped posts are left out.

    Raises:
        DataError: it is neither CSV nor JSON Lines, or there is no label in it.
    """
    from linker.annotation.formats import read

    format_ = _LABELS.get(path.suffix.lower())
    if format_ is None:
        raise DataError(
            f"{path}: labels are CSV or JSON Lines with the fields id (or post_id) and label; `linker annotate "
            "export` writes them"
        )
    said: dict[str, list[bool]] = {}
    for label in read(path, format_):
        if label.value != "skip":
            said.setdefault(label.post_id, []).append(label.value == "relevant")
    if not said:
        raise DataError(f"{path}: not one label is in it")
    return {post: 2 * sum(values) >= len(values) for post, values in said.items()}


def identity(contender: ModelReference) -> str:
    """What tells a model from others: a checksum; the name of a baseline."""
    return contender.fingerprint


def check_wishes(
    precision: float | None, recall: float | None, threshold: float | None, evidence: object
) -> None:
    """See that at most one thing decides where to cut, and that there is something to know it from.

    Raises:
        LinkerError: not so.
    """
    wishes = {"--precision": precision, "--recall": recall, "--threshold": threshold}
    given = [name for name, value in wishes.items() if value is not None]
    if len(given) > 1:
        raise LinkerError(f"{' and '.join(given)}: one of them decides where to cut; give only one")
    for name in given:
        value = wishes[name]
        if name != "--threshold" and not (value is not None and 0 < value <= 1):
            raise LinkerError(f"{name} {value}: give a share above 0 and up to 1, such as 0.8")
        if name != "--threshold" and evidence is None:
            raise LinkerError(
                f"{name}: nobody has said which posts are relevant, so nobody can know what a threshold keeps and "
                "finds; give labels of some of these posts (--labels) or a calibration (--calibration)"
            )


def chosen(
    thresholds: Thresholds | None, precision: float | None, recall: float | None, threshold: float | None
) -> float | None:
    """The threshold that is wished for, with what it keeps and finds told on standard error.

    Raises:
        LinkerError: no threshold is estimated to do what is wished for.
    """
    if thresholds is None:
        if threshold is not None:
            say(
                "without labels nobody can know how many of these posts are relevant (see --labels, --calibration)"
            )
        return threshold
    say(thresholds.basis)
    print_thresholds(sys.stderr, thresholds.table())
    if precision is not None:
        found = thresholds.for_precision(precision)
    elif recall is not None:
        found = thresholds.for_recall(recall)
    elif threshold is not None:
        found = thresholds.at(threshold)
    else:
        return None
    say(found.sentence)
    return found.score


def print_thresholds(file: IO[str], rows: Sequence[Threshold], kept: str = "posts kept") -> None:
    """What several thresholds do, a line each."""
    names = ("of them relevant (95 %)", "of the relevant kept (95 %)")
    print(f"{'score >=':>12} {kept:>14}   {names[0]:<26}{names[1]}", file=file)
    for row in rows:
        numbers = f"{row.score:>12} {row.kept:>14,}"
        print(f"{numbers}   {row.precision!s:<26}{row.recall}", file=file)


def say(message: str) -> None:
    """Tell something on standard error."""
    print(message, file=sys.stderr)
