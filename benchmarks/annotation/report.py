"""Page, table and figure of the annotation benchmark."""

from __future__ import annotations

import csv
import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.annotation.article_seeds import ARTICLES
from linker.annotation.simulation.outcomes import Outcome
from linker.common.files import atomic_write

COLUMNS = {
    "random": "random",
    "keywords": "keywords",
    "lexical": "BM25",
    "seed_similarity": "cosine",
    "hybrid": "hybrid",
    "rocchio": "Rocchio",
    "active_learning": "active learning",
    "autotar": "AutoTAR",
    "asreview": "ASReview u4",
    "asreview_h3": "ASReview h3*",
    "asreview_l2": "ASReview l2*",
}
#: Sets whose topics are as they are.
WHOLE = ("CrisisLexT6", "TREC")
FEW = 10
#: Lower bounds of the bands of prevalence.
BANDS = (0.0, 0.01, 0.03, 0.1, 0.3)
#: Contenders that are compared in bands.
LEARNING = ("active_learning", "autotar", "asreview", "asreview_h3", "asreview_l2")


@dataclass(frozen=True)
class Result:
    """A task and the mean labels to 95 % of its relevant posts by strategy; None: never reached."""

    facts: dict[str, Any]
    labels: dict[str, float | None]

    @classmethod
    def of(cls, kept: dict[str, Any]) -> Result:
        labels: dict[str, float | None] = {}
        for name in COLUMNS:
            own = [one["labels_to"]["0.95"] for one in kept["outcomes"] if one["strategy"] == name]
            if own:
                labels[name] = None if None in own else fmean(own)
        return cls(kept, labels)

    def share(self, name: str) -> float | None:
        labels = self.labels.get(name)
        return None if labels is None else labels / self.facts["distinct"]


def write_report(done: Sequence[dict[str, Any]], out: Path, model: str, growth: float) -> str:
    """Write OUT.md, OUT.csv and, with matplotlib, OUT.svg; return the tables."""
    results = [Result.of(kept) for kept in done]
    names = [name for name in COLUMNS if any(name in result.labels for result in results)]
    with atomic_write(out.with_suffix(".csv")) as file:
        writer = csv.writer(file, lineterminator="\n")
        facts = (
            "set",
            "name",
            "posts",
            "distinct",
            "relevant",
            "relevant_distinct",
            "disagreeing",
            "least_labels_95",
        )
        writer.writerow([*facts, *(f"labels_95_{name}" for name in names)])
        for one in results:
            writer.writerow([*(one.facts[key] for key in facts), *(one.labels.get(name) for name in names)])
    events = [one for one in results if one.facts["set"] == "CrisisLexT6"]
    topics = [one for one in results if one.facts["set"] == "TREC"]
    parts = [
        f"Model for scores and embeddings: `{model}`. Python {platform.python_version()}. Figures are means over runs "
        f"with different seeds: {_runs(done)}. Strategies that learn are retrained after {growth:.0%} more labels. "
        "Labels are counted in distinct posts, recall over all posts. Made with",
        "```\npython -m benchmarks.annotation --crisislex DIR --trec DIR --articles DATA --work WORK "
        "--asreview PYTHON\n```",
    ]
    if events:
        parts += ["## CrisisLexT6", *_events(events, names)]
    if topics:
        parts += ["## TREC Microblog", *_topics(topics, names)]
        parts += ["### By prevalence", _bands(_natural_bands(topics), names)]
    if subsampled := _sets(results, "TREC at "):
        parts += ["## TREC Microblog, subsampled", _bands(subsampled, names)]
    if articles := _sets(results, ARTICLES):
        parts += ["## Whole articles as seeds", _bands(articles, names, ("seed_similarity", *LEARNING))]
    notes = out.with_name(f"{out.name}-notes.md")
    lead = notes.read_text(encoding="utf-8").rstrip() if notes.is_file() else "# Annotation"
    with atomic_write(out.with_suffix(".md")) as file:
        file.write("\n\n".join([lead, *parts]) + "\n")
    _picture(done, out.with_suffix(".svg"))
    return "\n\n".join(parts)


def _runs(done: Sequence[dict[str, Any]]) -> str:
    """Return the number of runs of each strategy, the minimum over tasks that are not subsampled."""
    fewest: dict[str, int] = {}
    for kept in done:
        if kept["set"] not in WHOLE:
            continue
        for name, count in Counter(one["strategy"] for one in kept["outcomes"]).items():
            fewest[COLUMNS[name]] = min(count, fewest.get(COLUMNS[name], count))
    usual = max(fewest.values(), default=0)
    others = [f"{count} of {name}" for name, count in fewest.items() if count != usual]
    return ", ".join([f"{usual} of each strategy", *others])


def _events(events: Sequence[Result], names: Sequence[str]) -> list[str]:
    table = _table(
        [
            "labels to 95 % recall, % of distinct posts",
            "distinct posts",
            "relevant",
            "least possible",
            *(COLUMNS[name] for name in names),
            "learning : random",
        ],
        [
            [
                one.facts["name"].replace("_", " "),
                f"{one.facts['distinct']:,}",
                f"{one.facts['relevant_distinct'] / one.facts['distinct']:.1%}",
                _percent(one.facts["least_labels_95"] / one.facts["distinct"]),
                *(_percent(one.share(name)) for name in names),
                _ratio(one.labels.get("active_learning"), one.labels.get("random")),
            ]
            for one in events
        ],
    )
    copies = sum(one.facts["posts"] - one.facts["distinct"] for one in events)
    other = sum(one.facts["disagreeing"] for one in events)
    return [
        table,
        f"{copies:,} posts are near-duplicates of another; {other:,} of them ({other / max(1, copies):.1%}) have a "
        "different label in the set than their representative.",
    ]


def _topics(topics: Sequence[Result], names: Sequence[str]) -> list[str]:
    parts = []
    for title, some in (
        (f"{{}} topics with {FEW} relevant posts or more", [t for t in topics if t.facts["relevant"] >= FEW]),
        ("{} topics with fewer", [t for t in topics if t.facts["relevant"] < FEW]),
    ):
        if some:
            rows = [
                [
                    COLUMNS[name],
                    _mean([one.share(name) for one in some]),
                    *_duel(some, name),
                    _lost(some, name),
                ]
                for name in names
            ]
            head = [
                "",
                "labels to 95 %, mean % of posts",
                "learning needs fewer",
                "the same",
                "more",
                "never reached",
            ]
            parts += [f"### {title.format(len(some))}", _table(head, rows)]
    return parts


def _natural_bands(topics: Sequence[Result]) -> dict[str, list[Result]]:
    """Return the topics by their share of relevant posts."""
    groups: dict[str, list[Result]] = {}
    for low, high in zip(BANDS, (*BANDS[1:], 1.01)):
        title = f"{low:.0%} to {high:.0%} relevant" if high <= 1 else f"{low:.0%} relevant or more"
        shares = [(one, one.facts["relevant_distinct"] / one.facts["distinct"]) for one in topics]
        groups[title] = [one for one, share in shares if low <= share < high]
    return {title: some for title, some in groups.items() if some}


def _sets(results: Sequence[Result], begin: str) -> dict[str, list[Result]]:
    """Return the topics of the sets whose names begin like this, by the rest of the name."""
    groups: dict[str, list[Result]] = {}
    for one in results:
        if one.facts["set"].startswith(begin):
            groups.setdefault(one.facts["set"].removeprefix(begin), []).append(one)
    return groups


def _bands(
    groups: dict[str, list[Result]], names: Sequence[str], contenders: Sequence[str] = LEARNING
) -> str:
    """Return a row per group: mean share of labels, and on how many topics learning needs fewer and more labels."""
    ran = {name for some in groups.values() for one in some for name in one.labels}
    shown = [name for name in contenders if name in names and name in ran]
    rows = []
    for title, some in groups.items():
        cells = []
        for name in shown:
            of_name = [one for one in some if name in one.labels]
            fewer, _, more = _duel(of_name, name)
            wins = "" if name == "active_learning" or not of_name else f" ({fewer} : {more})"
            cells.append(_mean([one.share(name) for one in of_name]) + wins)
        rows.append([title, str(len(some)), *cells])
    head = ["labels to 95 %, mean % of posts (learning needs fewer : more)", "topics"]
    return _table([*head, *(COLUMNS[name] for name in shown)], rows)


def _duel(topics: Sequence[Result], rival: str) -> list[str]:
    if rival == "active_learning":
        return ["", "", ""]
    pairs = [(one.labels.get("active_learning"), one.labels.get(rival)) for one in topics]
    known = [(float("inf") if a is None else a, float("inf") if b is None else b) for a, b in pairs]
    return [
        str(sum(a < b for a, b in known)),
        str(sum(a == b for a, b in known)),
        str(sum(a > b for a, b in known)),
    ]


def _lost(topics: Sequence[Result], name: str) -> str:
    return str(sum(name in one.labels and one.labels[name] is None for one in topics))


def _mean(shares: Sequence[float | None]) -> str:
    known = [share for share in shares if share is not None]
    return _percent(fmean(known)) if known else "–"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def _ratio(one: float | None, other: float | None) -> str:
    return "–" if one is None or other is None else f"{one / other:.2f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _picture(done: Sequence[dict[str, Any]], path: Path) -> None:
    from linker.annotation.simulation.recall_figure import recall_figure
    from linker.common.figures import save

    fields = Outcome.__dataclass_fields__
    events = [kept for kept in done if kept["set"] == "CrisisLexT6"] or done
    outcomes = [
        Outcome(
            **{key: value for key, value in one.items() if key in fields}
            | {"strategy": COLUMNS[one["strategy"]]}
        )
        for kept in events
        for one in kept["outcomes"]
    ]
    save(recall_figure(outcomes), path)
