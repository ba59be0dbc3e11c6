"""Page of the quality benchmark: tables, intervals, the paper's setting, cost."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path

import numpy as np
import torch

from benchmarks.quality.baselines import alone, difference_lines, measured, together
from benchmarks.quality.cost import cost
from benchmarks.quality.danovitch2020 import COMPARED, differences, encoders, rows, verdict
from benchmarks.quality.models import AT_1, AT_5, METRICS, Scores, in_percent
from benchmarks.quality.runs import RESULTS, Workplace
from benchmarks.quality.sample import Sample
from benchmarks.quality.sample import lines as sample_lines
from benchmarks.quality.sets import SOURCES, Source
from benchmarks.quality.tables import Cells, Kept
from linker.common.files import atomic_write
from linker.evaluation.evaluate import evaluate
from linker.evaluation.metrics.ranking import per_post

NOTES = RESULTS / "default-notes.md"
PAPER_NOTES = RESULTS / "danovitch2020-notes.md"
SAMPLE_NOTES = RESULTS / "sample-notes.md"
TRAINED_NOTES = RESULTS / "trained-notes.md"


def report(place: Workplace, out: Path) -> None:
    """Measure every model and write the page and its picture."""
    kept = Kept(out.with_suffix(".json"), time.strftime("%Y-%m-%d"))
    lines = [*_heading(), "", *_prose(NOTES)]
    for source in SOURCES:
        lines += ["", f"## {source.title}", *_rivals(Scores(place, source), kept)]
        kept.write()
    lines += [
        "",
        "## The sample",
        "",
        *_prose(SAMPLE_NOTES),
        "",
        *sample_lines(Sample(place.work / "scores" / "sample")),
    ]
    lines += ["", "## The paper's setting", "", *_prose(PAPER_NOTES)]
    for source in SOURCES:
        lines += _paper(Scores(place, source), kept)
        kept.write()
    lines += ["", "## Trained models", "", *_prose(TRAINED_NOTES)]
    for source in SOURCES:
        kept.add(source.title, _trained(Scores(place, source)))
        lines += ["", f"### {source.title}", "", *kept.lines(source.title, _columns(source))]
    lines += cost(place, kept, out)
    kept.write()
    with atomic_write(out) as file:
        file.write("\n".join(lines) + "\n")


def _heading() -> list[str]:
    capability = {
        "AVX-512": torch.cpu._is_avx512_supported(),
        "AVX512_BF16": torch.cpu._is_avx512_bf16_supported(),
        "AVX512_VNNI": torch.cpu._is_vnni_supported(),
        "AMX": torch.cpu._is_amx_tile_supported(),
    }
    has, lacks = ([name for name, there in capability.items() if there == wish] for wish in (True, False))
    return [
        "# Quality on real posts",
        "",
        "Made by `python -m benchmarks.quality --data DATA --work WORK`, with Python "
        f"{platform.python_version()}, torch {torch.__version__}",
        f"and {os.cpu_count()} cores with {', '.join(has) or 'none of AVX-512 and AMX'}"
        + (f", without {', '.join(lacks)}" if lacks and has else "")
        + ".",
    ]


def _prose(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def _columns(source: Source) -> tuple[str, ...]:
    return (*METRICS, AT_1, AT_5) if source.every_article_is_a_candidate else METRICS


def _rivals(scores: Scores, kept: Kept) -> list[str]:
    """Return the tables of the default and its rivals, and the differences."""
    title, of_posts = scores.source.title, scores.source.every_article_is_a_candidate
    one, every = measured(scores)
    print(f"{time.strftime('%H:%M:%S')} measured {scores.source.name}", flush=True)
    kept.add(alone(title), one.rows)
    kept.add(together(title), every.rows)
    return [
        "",
        "### Each article alone: what `linker rank` does",
        "",
        *kept.lines(alone(title), _columns(scores.source)),
        "",
        "### All articles together: `linker evaluate`",
        "",
        *kept.lines(together(title), _columns(scores.source)),
        "",
        "### The default and its rivals",
        "",
        "In points, with 95 % paired intervals over articles"
        + (f" ({AT_1}: over posts)" if of_posts else "")
        + ". Alone, the softmax changes nothing.",
        "",
        *difference_lines(one, every, of_posts),
    ]


def _paper(scores: Scores, kept: Kept) -> list[str]:
    """The encoders in the paper's setting."""
    title = scores.source.title
    table, minus = f"{title}: the paper's setting", f"{title}: AST minus the other encoders"
    found = encoders(scores)
    kept.add(table, rows(found))
    kept.add(minus, differences(found))
    return [
        "",
        f"### {title}: encoders",
        "",
        *kept.lines(table, METRICS),
        "",
        "AST minus the others, in points, means over the seeds with 95 % paired bootstrap intervals over articles:",
        "",
        *kept.lines(minus, COMPARED),
        "",
        verdict(found),
    ]


def _trained(scores: Scores) -> dict[str, Cells]:
    """The rows of the trained models that exist."""
    cells: dict[str, Cells] = {}
    for row in scores.rows():
        values: dict[str, list[float]] = {}
        for own in row.scores:
            of_posts = per_post(own, scores.linked.relevance(), [one.id for one in scores.linked.articles])
            metrics = evaluate(own, scores.linked)
            metrics |= {metric: float(np.nanmean(of_posts[metric])) for metric in (AT_1, AT_5)}
            for metric in (*METRICS, AT_1, AT_5):
                values.setdefault(metric, []).append(metrics[metric])
        cells[row.name] = {"seeds": str(len(row.scores))} | {m: in_percent(own) for m, own in values.items()}
        print(f"{time.strftime('%H:%M:%S')} measured {scores.source.name}: {row.name}", flush=True)
    return cells
