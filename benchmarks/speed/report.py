"""Page of the speed benchmark: targets first, then each part."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.charts import bars, curves
from benchmarks.measurement import PATIENCE, Seconds, exponent
from benchmarks.speed.end_to_end import MINILM
from benchmarks.speed.figures import Results
from benchmarks.speed.workloads import NATIVE, NATIVE_EVERY, ORIGINAL, PLAIN
from linker.common.files import atomic_write

# Growth is judged from here on: below it the fixed costs of a call count.
LEAST_LENGTH = 512


@dataclass(frozen=True)
class Target:
    """A target and its result."""

    what: str
    bound: float
    at_least: bool
    found: float | None
    form: str

    def line(self) -> str:
        sign = "≥" if self.at_least else "≤"
        wanted = f"{sign} {self.form.format(self.bound)}"
        if self.found is None:
            return f"| {self.what} | {wanted} | not measured | – |"
        reached = self.found >= self.bound if self.at_least else self.found <= self.bound
        verdict = "reached" if reached else "**not reached**"
        return f"| {self.what} | {wanted} | {self.form.format(self.found)} | {verdict} |"


def median(seconds: Seconds, name: str) -> float | None:
    return statistics.median(seconds[name]) if seconds.get(name) else None


def times(seconds: Seconds, name: str, other: str = ORIGINAL) -> float | None:
    """Return the speedup over another: the median over rounds of the ratio within a round."""
    if not seconds.get(name) or not seconds.get(other):
        return None
    return statistics.median(b / a for a, b in zip(seconds[name], seconds[other]))


def share_of_memory(found: Mapping[str, int], name: str) -> float | None:
    return found[name] / found[ORIGINAL] if name in found else None


def growth(by_length: Mapping[int, Mapping[str, float | None]], name: str) -> float | None:
    points = [(n, found.get(name)) for n, found in by_length.items() if n >= LEAST_LENGTH]
    known = [(n, amount) for n, amount in points if amount]
    return exponent([n for n, _ in known], [amount for _, amount in known]) if len(known) > 1 else None


def native_growth(by_length: Mapping[int, Mapping[str, float | None]]) -> float | None:
    """Return the larger exponent of both ways; projecting repeated words once makes time grow more slowly."""
    found = [growth(by_length, name) for name in (NATIVE, NATIVE_EVERY)]
    return max((value for value in found if value is not None), default=None)


def medians(by_length: Mapping[int, Seconds]) -> dict[int, dict[str, float | None]]:
    return {n: {name: median(found, name) for name in found} for n, found in by_length.items()}


def targets(r: Results) -> list[Target]:
    posts = r.end_to_end.get("posts", {})
    encoding, steps = medians(r.encoding_by_length), medians(r.step_by_length)
    fold, plain = "{:.1f}×", "{:.2f}×"
    return [
        Target("native, training step against the original", 6, True, times(r.step, NATIVE), fold),
        Target("the same, every token projected", 5, True, times(r.step, NATIVE_EVERY), fold),
        Target("native, encoding articles", 12, True, times(r.articles, NATIVE), fold),
        Target("native, encoding posts", 12, True, times(r.posts, NATIVE), fold),
        Target("native, posts/s from text against MiniLM", 30, True, times(posts, NATIVE, MINILM), fold),
        Target(
            "native, peak memory of a training step",
            0.3,
            False,
            share_of_memory(r.memory_of_step, NATIVE),
            plain,
        ),
        Target("plain, training step", 2.2, True, times(r.step, PLAIN), fold),
        Target("plain, encoding articles", 3, True, times(r.articles, PLAIN), fold),
        Target("plain, encoding posts", 3, True, times(r.posts, PLAIN), fold),
        Target("native, growth exponent of encoding time", 1.05, False, native_growth(encoding), "{:.3f}"),
        Target("native, growth exponent of a step's time", 1.05, False, native_growth(steps), "{:.3f}"),
        Target(
            "native, growth exponent of a step's memory",
            1.05,
            False,
            native_growth(r.memory_by_length),
            "{:.3f}",
        ),
    ]


def write(r: Results, path: Path) -> None:
    """Write the report and its figures."""
    first, second = path.with_name(f"{path.stem}-ratios.svg"), path.with_name(f"{path.stem}-growth.svg")
    ratios = {
        label: {name: times(found, name) for name in found if name != ORIGINAL}
        for label, found in (("training step", r.step), ("articles", r.articles), ("posts", r.posts))
    }
    bars("Times as fast as the original algorithm", ratios, first)
    per_token = {
        name: [
            (n, 1e6 * value / (n * 2 * (r.amounts.growth_texts // 2)))
            for n, found in medians(r.encoding_by_length).items()
            if (value := found[name])
        ]
        for name in next(iter(r.encoding_by_length.values()))
    }
    curves("Encoding: µs per token by length of the texts", per_token, second)
    with atomic_write(path) as file:
        file.write("\n".join([*_head(r), *_steps(r, first), *_end_to_end(r), *_growth(r, second)]) + "\n")


def _head(r: Results) -> list[str]:
    b, e = r.texts["batch"], r.texts["encoded"]
    lines = [
        "# Speed of the Adaptive Star Transformer",
        "",
        f"Made by `{r.command}` on: {r.machine}.",
        "A run for a quick look, not for figures." if r.amounts.quick else "",
        f"Native kernels: {r.native_problem or 'there'}.",
        "",
        f"Texts: {r.texts['source']}. A training step has {b['articles']} articles of {b['article_tokens']:.0f} and "
        f"{b['posts']} posts of {b['post_tokens']:.0f} tokens on average ({b['tokens']:,} tokens, {b['words']:,} "
        f"different words of {r.texts['words']:,}); {e['articles']} articles and {e['posts']:,} posts are encoded.",
        "D = 300, 10 heads of 30, one cycle, dot product, learned α, float32; frozen random word vectors; α and the",
        "scale of scores drawn as after training. Times are medians over "
        f"{r.amounts.repeats} rounds in which all take turns in one process; ratios are medians of the rounds' own.",
        "",
        "## To reach",
        "",
        "| what | to reach | seen | |",
        "|---|---|---|---|",
        *(target.line() for target in targets(r)),
    ]
    return [line for i, line in enumerate(lines) if line or lines[i - 1]]


def _steps(r: Results, first: Path) -> list[str]:
    names = list(r.step)
    columns = {
        "training step": [_time(r.step, name) for name in names],
        "with dropout": [_time(r.step_with_dropout, name) for name in names],
        "encode articles": [_time(r.articles, name) for name in names],
        "encode posts": [_time(r.posts, name) for name in names],
        "memory of a step": [_memory(r.memory_of_step, name) for name in names],
        "memory of encoding articles": [_memory(r.memory_of_encoding, name) for name in names],
    }
    return [
        "",
        "## Side by side",
        "",
        "From token ids to vectors or to the end of Adam's step; in brackets times as fast, or share of the memory, of",
        'the original. The first rows compute the same function: "every token" projects a word wherever it stands, the',
        f"others once per batch. Their vectors differ by {r.difference:.0e} at most.",
        "",
        *_table("", names, columns),
        "",
        "The original algorithm as `baselines.py` states it: padded batches (articles and posts apart; sorted by",
        "length when encoding), 1 × 1 convolutions, unfolded windows, relay and own token projected once per token, 50",
        "halvings for entmax; padding masked. A step mines triplets and ends with Adam. Memory: highest resident set",
        "during the work (VmHWM) minus the resident set before it, in a fresh process each. Who took longer than "
        f"{PATIENCE:.0f} s was timed once.",
        "",
        f"![ratios]({first.name})",
    ]


def _end_to_end(r: Results) -> list[str]:
    lines = ["", "## From text to vector", ""]
    if r.minilm_problem:
        lines += [f"MiniLM was left out: {r.minilm_problem}.", ""]
    lines += [
        "Texts per second, tokenizing included on both sides; every round has texts that nobody saw before. "
        f"{r.unknown_words:.1%} of the posts' tokens are outside the vocabulary. MiniLM cuts at 256 word pieces, ours",
        "at 1,000 words unless noted.",
        "",
        "| | per second | times MiniLM |",
        "|---|---|---|",
    ]
    for kind, found in r.end_to_end.items():
        count = r.end_to_end_counts[kind]
        for name in found:
            ratio = times(found, name, MINILM)
            rate = count / statistics.median(found[name])
            lines.append(f"| {kind}: {name} | {rate:,.0f} | {'–' if ratio is None else f'{ratio:.1f}×'} |")
    return lines


def _growth(r: Results, second: Path) -> list[str]:
    lines = ["", "## Growth with length", ""]
    lines += [
        f"{2 * (r.amounts.growth_texts // 2)} texts of one length, words by Zipf's law. The exponent is fitted "
        f"from {LEAST_LENGTH} tokens on; the target takes the larger one of the two native rows.",
    ]
    memory = {n: {k: float(v) for k, v in found.items()} for n, found in r.memory_by_length.items()}
    parts: list[tuple[str, Mapping[int, Mapping[str, float | None]], float, str]] = [
        ("encoding, ms", medians(r.encoding_by_length), 1000, "{:,.1f}"),
        ("training step, ms", medians(r.step_by_length), 1000, "{:,.1f}"),
        ("memory of a step, MiB", memory, 2**-20, "{:,.0f}"),
    ]
    for title, by_length, factor, form in parts:
        names = list(next(iter(by_length.values()), {}))
        columns = {
            f"{n:,}": [form.format(factor * (found[name] or 0)) for name in names]
            for n, found in by_length.items()
        }
        columns["exponent"] = [_number(growth(by_length, name), "{:.3f}") for name in names]
        lines += ["", *_table(title, names, columns)]
    return [*lines, "", f"![growth]({second.name})"]


def _table(title: str, names: list[str], columns: Mapping[str, list[str]]) -> list[str]:
    return [
        f"| {title} | " + " | ".join(columns) + " |",
        "|---" * (len(columns) + 1) + "|",
        *(f"| {' | '.join([name, *cells])} |" for name, *cells in zip(names, *columns.values())),
    ]


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else form.format(value)


def _time(seconds: Seconds, name: str) -> str:
    own = median(seconds, name)
    return "–" if own is None else f"{1000 * own:,.0f} ms ({_number(times(seconds, name), '{:.1f}×')})"


def _memory(found: Mapping[str, int], name: str) -> str:
    return f"{found[name] / 2**20:,.0f} MiB ({share_of_memory(found, name):.2f}×)" if name in found else "–"
