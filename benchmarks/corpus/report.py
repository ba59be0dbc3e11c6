"""Page and figure of the corpus benchmark."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.charts import curves
from benchmarks.corpus.measurements import (
    ARTICLE,
    EXACT,
    FLOOR,
    LINKER,
    PASSAGES,
    TOP,
    WHOLE,
    WORDS,
)
from benchmarks.corpus.posts import HASHTAGS, LINKS, NEAR_COPIES, NEW_WORDS, RETWEETS, SENTENCES
from benchmarks.measurement import Seconds
from benchmarks.speed.report import Target, median, times
from linker.common.files import atomic_write

NOTES = Path(__file__).parent / "results" / "corpus-notes.md"

Part = Mapping[str, Any]


def write(settings: Part, parts: Mapping[str, Part], path: Path) -> None:
    """Write the page and its figure."""
    sizes: list[int] = settings["sizes"]
    builds = {size: parts[f"build-{size}"] for size in sizes}
    asked = {size: parts[f"ask-{size}"] for size in sizes}
    picture = path.with_suffix(".svg")
    names = {EXACT: "exact", WORDS: "exact, with words", FLOOR: "matrix product"}
    curves(
        f"Milliseconds to the best {TOP} by number of posts",
        {
            shown: [(size, 1000 * _median(found["seconds"], name)) for size, found in asked.items()]
            for name, shown in names.items()
        },
        picture,
    )
    lines = [
        *_head(settings),
        *_targets(sizes, parts),
        *_encoding(parts["encode"]),
        *_building(builds, parts["killed"]),
        *_asking(asked, picture),
        *_opponents({size: parts[f"opponents-{size}"] for size in sizes[1:]}),
    ]
    with atomic_write(path) as file:
        file.write("\n".join(lines) + "\n")


def _head(settings: Part) -> list[str]:
    quick = ["A run for a quick look, not for figures.", ""] if settings["quick"] else []
    spliced = 1 - RETWEETS - NEAR_COPIES - SENTENCES
    return [
        "# Corpora: building and asking",
        "",
        f"Made by `{settings['command']}` on: {settings['machine']}.",
        "",
        *quick,
        f"Model: {settings['model']}. The posts are made out of real ones (`posts.py`): {spliced:.0%} the first "
        f"half of one and the second half of another, {SENTENCES:.0%} sentences of articles, {RETWEETS:.0%} retweets "
        f"and {NEAR_COPIES:.0%} copies with another link; {LINKS:.0%} with a link and {HASHTAGS:.0%} with a hashtag of "
        f"their own, {NEW_WORDS} of 1,000 words in a new spelling. Times are medians over rounds in which all take "
        "turns; ratios are medians of the rounds' own.",
        "",
    ]


def _targets(sizes: list[int], parts: Mapping[str, Part]) -> list[str]:
    encode, killed = parts["encode"]["seconds"], parts["killed"]
    opponents = [name for name in encode if "MiniLM" in name]
    ratio = min((r for name in opponents if (r := times(encode, LINKER, name))), default=None)
    asked: Seconds = parts[f"ask-{sizes[-1]}"]["seconds"]
    peaks = [parts[f"build-{size}"]["peak"] for size in sizes]
    found = [
        Target("posts/s of `linker corpus build` against MiniLM", 20, True, ratio, "{:.1f}×"),
        Target(
            f"exact search of {sizes[-1]:,} posts against numpy", 1.5, False, _slower(asked, EXACT), "{:.2f}×"
        ),
        Target(
            f"peak memory of a build of {sizes[-1]:,} posts against {sizes[-2]:,}",
            1.3,
            False,
            peaks[-1] / peaks[-2],
            "{:.2f}×",
        ),
        Target(
            "posts lost, doubled or moved by a kill in the middle",
            0,
            False,
            float(not killed["same"]),
            "{:.0f}",
        ),
    ]
    return [
        *(NOTES.read_text(encoding="utf-8").splitlines() if NOTES.exists() else []),
        "",
        "## To reach",
        "",
        "| what | to reach | seen | |",
        "|---|---|---|---|",
        *(target.line() for target in found),
        "",
    ]


def _encoding(part: Part) -> list[str]:
    seconds: Seconds = part["seconds"]
    opponents = [name for name in seconds if "MiniLM" in name]
    lines = [
        "## Encoding, beside MiniLM",
        "",
        f"{part['posts']:,} posts a round that nobody saw before, on the same cores. `linker corpus build` reads its "
        "model and the packed posts, tokenizes, encodes, writes posts, vectors, signatures and words, takes checksums; "
        "MiniLM, through sentence-transformers, is loaded before and is given the texts as a list.",
        "",
        f"| | posts/s | {' | '.join(f'times {name}' for name in opponents)} |",
        "|---" * (2 + len(opponents)) + "|",
    ]
    for name in seconds:
        ratios = [times(seconds, name, other) for other in opponents]
        cells = [f"{part['posts'] / _median(seconds, name):,.0f}", *(f"{r:.1f}×" for r in ratios if r)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    if not opponents:
        lines += ["", "MiniLM was left out."]
    return [*lines, ""]


def _building(builds: Mapping[int, Part], killed: Part) -> list[str]:
    lines = [
        "## Building",
        "",
        "Each build is a process of its own, start and model included. Peak memory: its highest resident set.",
        "",
        "| posts | s | posts/s | peak MiB | MB on disk | MB of packed posts |",
        "|---|---|---|---|---|---|",
    ]
    for size, found in builds.items():
        lines.append(
            f"| {size:,} | {found['seconds']:,.1f} | {size / found['seconds']:,.0f} | {found['peak'] / 2**20:,.0f} | "
            f"{found['bytes'] / 1e6:,.0f} | {found['input'] / 1e6:,.0f} |"
        )
    same = "the same posts in the same order" if killed["same"] else "**other posts**"
    return [
        *lines,
        "",
        f"A build of {max(builds):,} posts was killed (SIGKILL) when {killed['there']:,} were there. The same command "
        f"resumed from there in {killed['seconds']:,.0f} s (peak {killed['peak'] / 2**20:,.0f} MiB); `linker corpus "
        f"verify` read all of it in {killed['verify']:,.0f} s and found it whole. Beside the build that was not "
        f"killed: {same}, {killed['posts']:,} of them; their vectors differ by {killed['difference']:.0e} at most.",
        "",
    ]


def _asking(asked: Mapping[int, Part], picture: Path) -> list[str]:
    names = (FLOOR, EXACT, WORDS, WHOLE, PASSAGES)
    lines = [
        "## Asking",
        "",
        f"The best {TOP} posts for one article, another in every round, the corpus open. *numpy* is a matrix product "
        "over vectors in memory and `argpartition`, no more. *Exact* is `Corpus.rank` with the article's vector given: "
        "scores, near-duplicates once each with their count, the posts read (of up to 250,000, from memory); "
        "*with words* adds BM25 scores (`--fusion zscore`).",
        "",
        f"| posts | {' | '.join(names)} |",
        "|---" * (1 + len(names)) + "|",
    ]
    for size, found in asked.items():
        seconds: Seconds = found["seconds"]
        cells = [_ms(seconds, FLOOR)]
        cells += [f"{_ms(seconds, name)} ({_slower(seconds, name):.2f}×)" for name in names[1:]]
        lines.append(f"| {size:,} | {' | '.join(cells)} |")
    encode = statistics.median([_median(found["seconds"], ARTICLE) for found in asked.values()])
    once = list(next(iter(asked.values()))["once"])
    lines += [
        "",
        f"Encoding an article takes {1000 * encode:.1f} ms. What happens once, in seconds:",
        "",
        f"| posts | {' | '.join(once)} |",
        "|---" * (1 + len(once)) + "|",
    ]
    for size, found in asked.items():
        cells = [f"{found['once'][name]:,.2f}" for name in once]
        lines.append(f"| {size:,} | {' | '.join(cells)} |")
    return [*lines, "", f"![milliseconds by number of posts]({picture.name})"]


def _opponents(measured: Mapping[int, Part]) -> list[str]:
    lines = [
        "",
        "## Beside other stores",
        "",
        "The same embeddings in float32, one article's embedding given, ids and texts of the best 100 returned. "
        "Recall@100 is of the exact order; linker's own search is exact and shows near-duplicates once. pgvector is "
        "filled by `linker corpus export`, and a server on the same cores answers; Lance compares the embeddings of "
        "twice as many posts as it returns (`refine_factor`).",
        "",
        "| posts | | s to fill and index | MB | ms per question | times linker | recall@100 |",
        "|---|---|---|---|---|---|---|",
    ]
    for size, found in measured.items():
        seconds: Seconds = found["seconds"]
        lines.append(f"| {size:,} | linker, {EXACT} | | | {_ms(seconds, EXACT)[:-3]} | 1 | 1 |")
        for name, recall in found["recall"].items():
            made = next((value for key, value in found["made"].items() if name.startswith(key)), None)
            cells = f"{made['seconds']:,.0f} | {made['bytes'] / 1e6:,.0f}" if made else " | "
            ratio = times(seconds, EXACT, name) or float("nan")
            lines.append(
                f"| {size:,} | {name} | {cells} | {_ms(seconds, name)[:-3]} | {ratio:.2f} | {recall:.3f} |"
            )
    return lines


def _slower(seconds: Seconds, name: str) -> float:
    return times(seconds, FLOOR, name) or float("nan")


def _median(seconds: Seconds, name: str) -> float:
    return median(seconds, name) or float("nan")


def _ms(seconds: Seconds, name: str) -> str:
    return f"{1000 * _median(seconds, name):,.1f} ms"
