"""What `linker rank` and `linker corpus search` share: options, reading labels, reporting, writing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Literal

import typer

from linker.cli import status
from linker.cli.status import say
from linker.common.errors import LinkerError

if TYPE_CHECKING:
    from linker.calibration.thresholds import Threshold
    from linker.data.post_filter import Filter
    from linker.data.types import Article
    from linker.ranking.output import Format
    from linker.ranking.request import RankRequest
    from linker.ranking.results import Ranking

Top = Annotated[
    int | None,
    typer.Option(
        "--top",
        min=1,
        metavar="N",
        help="List N posts (20 in tables, 1,000 in HTML, else all).",
        show_default=False,
    ),
]
Since = Annotated[
    str | None,
    typer.Option(
        "--since", metavar="TIME", help="Rank only posts on or after this date or time (2014-08-01)."
    ),
]
Until = Annotated[
    str | None,
    typer.Option("--until", metavar="TIME", help="Rank only posts before this date or time."),
]
Lang = Annotated[
    list[str] | None,
    typer.Option(
        "--lang",
        metavar="LANG",
        help="Rank only posts in this language (en, English); repeatable.",
        show_default=False,
    ),
]
Cut = Annotated[
    str | None,
    typer.Option(
        "--threshold",
        metavar="SCORE",
        help="Leave out posts below SCORE, precision=0.8 or recall=0.9.",
        show_default=False,
    ),
]
Labels = Annotated[
    Path | None,
    typer.Option("--labels", metavar="FILE", help="Relevance labels of some posts, in any format."),
]
CalibrationFile = Annotated[
    Path | None,
    typer.Option("--calibration", metavar="FILE", help="Calibration file written by `linker calibrate`."),
]
Copies = Annotated[bool, typer.Option("--copies", metavar="", help="List near-duplicates one by one.")]
Explain = Annotated[
    bool,
    typer.Option("--explain", metavar="", help="Show what decided each score, and mark the words."),
]
IgnoreDates = Annotated[
    bool,
    typer.Option("--ignore-dates", metavar="", help="Rank by text alone; ignore dates."),
]
OutFormat = Annotated[
    Literal["table", "csv", "tsv", "xlsx", "jsonl", "json", "parquet", "html", "trec"] | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="table, csv, tsv, xlsx, json, jsonl, parquet, html or trec.",
        show_default=False,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="File to write; its ending chooses the format."),
]


def filter_of(
    since: str | None, until: str | None, lang: list[str] | None, where: str | None = None
) -> Filter | None:
    """Return the conditions on posts; None if there are none.

    Raises:
        LinkerError: if a date is invalid.
    """
    from linker.data.post_filter import Filter

    return Filter(_date("--since", since), _date("--until", until), tuple(lang or ()), where) or None


def _date(option: str, given: str | None) -> datetime | None:
    from linker.data.io.dates import parse_date

    if given is None:
        return None
    try:
        return parse_date(given)
    except ValueError as error:
        raise LinkerError(f"{option}: {error}") from error


def request_of(
    format_: Format,
    top: int | None,
    offset: int,
    cut: str | None,
    evidence: tuple[Path | None, Path | None],
    explain: bool,
    passages: Literal["whole", "best", "mean"],
    filter: Filter | None,
    copies: bool,
    ignore_dates: bool = False,
) -> RankRequest:
    """Read labels or calibration, and check that options fit together.

    Args:
        format_: what will be written; tables and pages end after a number of posts, runs list all near-duplicates.
        top: as typed.
        offset: number of the best posts to skip.
        cut: `--threshold` as typed.
        evidence: files of labels and of a calibration.
        explain: explain scores.
        passages: how articles are scored.
        filter: conditions on posts.
        copies: list near-duplicates.
        ignore_dates: score by text alone.

    Raises:
        LinkerError: if a file cannot be read or options do not fit together.
    """
    from linker.ranking.output import USUAL_TOP
    from linker.ranking.request import RankRequest

    labels, calibration = evidence
    if labels is not None and calibration is not None:
        raise LinkerError("--labels and --calibration: give one; labels of the posts themselves are better")
    relevant = learned = None
    if labels is not None:
        from linker.data.labels.reading import read_labels

        relevant = read_labels(labels)
        say(relevant.summary)
    if calibration is not None:
        from linker.calibration.calibration import Calibration

        learned = Calibration.read(calibration)
    return RankRequest(
        USUAL_TOP.get(format_) if top is None else top,
        offset,
        *_threshold(cut),
        relevant,
        learned,
        explain,
        passages,
        filter,
        copies or format_ == "trec",
        ignore_dates,
    )


def say_dates(articles: Sequence[Article]) -> None:
    """Report that scores depend on dates."""
    days = sorted({article.published.date() for article in articles if article.published is not None})
    near = str(days[0]) if len(days) == 1 else f"{days[0]} to {days[-1]}"
    say(f"posts written soon after the article ({near}) score higher; --ignore-dates ranks by text alone")


def _threshold(text: str | None) -> tuple[float | None, float | None, float | None]:
    """Parse `--threshold` (50, precision=0.8 or recall=0.9) into threshold, precision and recall."""
    if text is None:
        return None, None, None
    target, _, number = text.rpartition("=")
    try:
        if target not in ("", "precision", "recall"):
            raise ValueError(target)
        value = float(number)
    except ValueError:
        raise LinkerError(
            f"--threshold {text}: give a score from 0 to 100 such as 50, precision=0.8 or recall=0.9"
        ) from None
    return {"precision": (None, value, None), "recall": (None, None, value)}.get(target, (value, None, None))


def show(ranking: Ranking, request: RankRequest, out: Path | None, format_: Format) -> None:
    """Report thresholds on standard error, then write the ranking."""
    _report(ranking, request)
    status.end()
    ranking.write(out, format_)


def _report(ranking: Ranking, request: RankRequest) -> None:
    if ranking.thresholds is not None:
        say(ranking.thresholds.basis)
        print_thresholds(sys.stderr, ranking.thresholds.table())
    elif request.threshold is not None:
        say(
            "precision and recall at this threshold are unknown; give --labels or --calibration to estimate them"
        )
    cut = ranking.threshold
    if cut is not None:
        say(cut.sentence)
    score = cut.score if cut else request.threshold
    if not ranking and score is None:
        say("no post meets the conditions, or all of them were skipped")
    elif not ranking:
        say(f"no post has a score of {score} or more")
    elif request.explain and ranking[0].explanation is None:
        say(f"{ranking.model} cannot explain its scores; the posts are shown without marks")


def print_thresholds(file: IO[str], rows: Sequence[Threshold], kept: str = "posts kept") -> None:
    """Print a table of thresholds, one per line."""
    names = ("of them relevant (95 %)", "of the relevant kept (95 %)")
    width = 2 + max(map(len, (names[0], *(str(row.precision) for row in rows))))
    print(f"{'score >=':>12} {kept:>14}   {names[0]:<{width}}{names[1]}", file=file)
    for row in rows:
        numbers = f"{row.score:>12} {row.kept:>14,}"
        print(f"{numbers}   {row.precision!s:<{width}}{row.recall}", file=file)
