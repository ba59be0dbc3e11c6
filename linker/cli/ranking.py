"""The options of `linker rank` and `linker corpus search`, and how rankings are reported and written."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal

import typer

from linker.cli.inputs import PostConditions
from linker.cli.status import say
from linker.common.errors import LinkerError

if TYPE_CHECKING:
    from linker.calibration.thresholds import Threshold
    from linker.ranking.output import Format
    from linker.ranking.request import RankRequest
    from linker.ranking.results import Ranking


@dataclass
class RankingOptions(PostConditions):
    """Which posts of a ranking are shown, how, and where they are written."""

    top: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="List N posts (20 in tables, 1,000 in HTML, else all)."),
    ] = None
    labels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Relevance labels of some posts, in any format.")
    ] = None
    calibration: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Calibration file written by `linker calibrate`.")
    ] = None
    threshold: Annotated[
        str | None,
        typer.Option(metavar="SCORE", help="Least score, precision=0.8, recall=0.9 or 'recall>=0.9'."),
    ] = None
    copies: Annotated[bool, typer.Option("--copies", metavar="", help="List near-duplicates one by one.")] = (
        False
    )
    explain: Annotated[
        bool, typer.Option("--explain", metavar="", help="Show word contributions to each score.")
    ] = False
    ignore_dates: Annotated[
        bool,  # the line about dates names it
        typer.Option("--ignore-dates", metavar="", help="Rank by text alone, without dates.", hidden=True),
    ] = False
    format_: Annotated[
        Literal["table", "csv", "tsv", "xlsx", "jsonl", "json", "parquet", "html", "trec"] | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="table, csv, tsv, xlsx, json, jsonl, parquet, html or trec.",
            show_default=False,
        ),
    ] = None
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write; its ending chooses the format.")
    ] = None

    @property
    def format(self) -> Format:
        """The format: that of `--format`, else of the ending of `--out`, which has to be known."""
        from linker.ranking.output import format_of

        return format_of(self.out, self.format_)

    def request(self, where: str | None = None, offset: int = 0) -> RankRequest:
        """Read labels or calibration, and check that options fit together, with those of a corpus only.

        Raises:
            LinkerError: if a file cannot be read, a date is invalid, or options do not fit together.
        """
        from linker.ranking.output import USUAL_TOP
        from linker.ranking.request import RankRequest

        format_ = self.format
        if self.labels is not None and self.calibration is not None:
            raise LinkerError(
                "--labels and --calibration: give one; labels of the posts themselves are better"
            )
        labels = calibration = None
        if self.labels is not None:
            from linker.data.labels.reading import read_labels

            labels = read_labels(self.labels)
            say(labels.summary)
        if self.calibration is not None:
            from linker.calibration.calibration import Calibration

            calibration = Calibration.read(self.calibration)
        # Tables and pages end after a number of posts; runs of TREC list all near-duplicates.
        return RankRequest(
            USUAL_TOP.get(format_) if self.top is None else self.top,
            offset,
            labels=labels,
            calibration=calibration,
            explain=self.explain,
            since=self.since,
            until=self.until,
            lang=self.lang or (),
            where=where,
            copies=self.copies or format_ == "trec",
            ignore_dates=self.ignore_dates,
            **_threshold(self.threshold),
        )

    def show(self, ranking: Ranking, request: RankRequest) -> None:
        """Report dates and thresholds on standard error, then write the ranking."""
        from linker.ranking.output import write_rankings

        _report(ranking, request)
        write_rankings([ranking], self.out, self.format)

    def folder_of_each(self) -> Path | None:
        """Return the folder for a file per article, if `--out` names no file; `out` becomes a file in it."""
        from linker.ranking.output import ENDINGS

        folder = self.out
        if folder is None or folder.suffix.lower() in ENDINGS or folder.is_file():
            return None
        self.format_ = self.format_ or "csv"
        self.out = folder / "article"
        return folder

    def show_each(self, rankings: Iterable[Ranking], request: RankRequest, folder: Path | None) -> None:
        """Report thresholds on standard error, and write the rankings, to a file each if there is a folder."""
        from linker.ranking.output import write_each, write_rankings

        reported = (_report(ranking, request, each=True) for ranking in rankings)
        if folder is None:
            write_rankings(reported, self.out, self.format, headed=True)
        else:
            write_each(reported, folder, self.format)


def _threshold(text: str | None) -> dict[str, Any]:
    """Parse `--threshold` (50, score=0.5, precision=0.8, recall=0.9 or recall>=0.9) into options of `RankRequest`."""
    if text is None:
        return {}
    target, sign, number = text.partition("=")
    name = target.rstrip(" >") if sign else "score"
    try:
        if name not in ("score", "precision", "recall") or (">" in target and name != "recall"):
            raise ValueError(name)
        value = float(number if sign else target)
    except ValueError:
        raise LinkerError(
            f"--threshold {text}: give a score from 0 to 100 such as 50, precision=0.8, recall=0.9 or, in quotation "
            "marks, 'recall>=0.9'"
        ) from None
    if not sign and 0 < value <= 1:
        raise LinkerError(
            f"--threshold {text}: scores go from 0 to 100; did you mean --threshold {100 * value:g}? For a score of "
            f"{value:g} of 100 write score={value:g}; for a share write precision={value:g} or recall={value:g}"
        )
    return {"threshold" if name == "score" else name: value, "confident": ">" in target}


def _report(ranking: Ranking, request: RankRequest, each: bool = False) -> Ranking:
    """Print dates and thresholds, or if it is one of several, a line or two; return the ranking."""
    of = f"{ranking.query}: " if each else ""
    if ranking.scale.dates and not each:
        days = sorted({article.published.date() for article in ranking.articles if article.published})
        near = str(days[0]) if len(days) == 1 else f"{days[0]} to {days[-1]}"
        say(f"posts written soon after the article ({near}) score higher; --ignore-dates ranks by text alone")
    if ranking.thresholds is not None:
        say(f"{of}{ranking.thresholds.basis}")
        if not each:
            print_thresholds(sys.stderr, ranking.thresholds.table())
    elif request.labels is not None:
        say(f"{of}no labels, so that its posts have no probability")
    elif request.threshold is not None and not each:
        say("precision and recall at this threshold are unknown; --labels or --calibration estimate them")
    score = request.threshold
    if ranking.threshold is not None:
        say(f"{of}{ranking.threshold.sentence}")
        score = ranking.threshold.score
    if not ranking and score is None:
        say(f"{of}no post meets the conditions, or all of them were skipped")
    elif not ranking:
        say(f"{of}no post has a score of {score} or more")
    elif request.explain and ranking[0].explanation is None and not each:
        say(f"{ranking.model} cannot explain its scores; the posts are shown without marks")
    return ranking


def print_thresholds(file: IO[str], rows: Sequence[Threshold], count: str = "posts kept") -> None:
    """Print a table of thresholds, one per line."""
    names = ("of them relevant (95 %)", "of the relevant kept (95 %)")
    width = 2 + max(map(len, (names[0], *(str(row.precision) for row in rows))))
    print(f"{'score >=':>12} {count:>14}   {names[0]:<{width}}{names[1]}", file=file)
    for row in rows:
        numbers = f"{row.score:>12} {row.kept:>14,}"
        print(f"{numbers}   {row.precision!s:<{width}}{row.recall}", file=file)
