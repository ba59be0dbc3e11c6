"""Measurements of the corpus benchmark: encoding against MiniLM, builds in separate processes, searches."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from benchmarks.corpus.posts import PostMaker, write_some
from benchmarks.measurement import in_turn, say
from benchmarks.minilm import load_minilm
from linker.corpus.builder import POSTS_AT_ONCE, build_corpus
from linker.corpus.corpus import Corpus
from linker.corpus.encoding import VECTORS as VECTORS_FILE
from linker.corpus.indexes.vectors import live_rows, stored_vectors, vectors_of
from linker.corpus.storage.shards import Shards
from linker.corpus.storage.store import FACTS, Store
from linker.data.io.columns import PostColumns
from linker.data.io.records import read_posts
from linker.data.types import Article, Post
from linker.models.files.archive import load_model
from linker.models.model import Model, embedding_submodel
from linker.ranking.ranked_post import RankedPost

T = TypeVar("T")

TOP = 100
BATCH_SIZES = (16, 32, 64, 128, 256)
LINKER, VECTORS, DEFAULT = "linker corpus build", "linker, vectors only", "MiniLM, batches of 32"
FLOOR, EXACT, WORDS = "numpy", "exact", "with words"
WHOLE, PASSAGES, ARTICLE = "all that `linker rank` does", "best passage, article encoded", "article to vector"
# `linker` as a command of its own, with appends of another size where a run is too small for the usual ones.
_COMMAND = """
import sys
from linker.corpus import builder
builder.POSTS_AT_ONCE = int(sys.argv.pop(1))
from linker.cli.main import main
main()
"""


@dataclass(frozen=True)
class Amounts:
    """Amounts to measure."""

    rounds: int = 5
    encode_rounds: int = 3
    encoded: int = 3_000
    tried: int = 300
    append: int = POSTS_AT_ONCE
    questions: int = 100
    minilm: bool = True


QUICK = Amounts(1, 1, 200, 20, 500, 6, minilm=False)


def encoding(data: Sequence[Path], model: Path, work: Path, amounts: Amounts) -> dict[str, Any]:
    """Measure the seconds of every round; each round has a file of new posts.

    MiniLM is loaded before and is given the texts as a list; linker reads its model and the packed file, and writes the
    corpus.
    """
    files = [work / f"round-{i}.jsonl.gz" for i in range(amounts.encode_rounds + 1)]
    maker = iter(PostMaker.read(data, seed=99))
    for file in files:
        write_some(islice(maker, amounts.encoded), file)
    loaded = embedding_submodel(load_model(model))
    assert loaded is not None
    posts = [read_posts(str(file)) for file in files]
    tasks: dict[str, Callable[[int], object]] = {
        LINKER: lambda i: _fresh_build(work / "encoding", files[i], model),
        VECTORS: lambda i: loaded.post_vectors(posts[i]),
    }
    if amounts.minilm:
        other = load_minilm()
        texts = [[post.text for post in some] for some in posts]

        def encode(texts: list[str], size: int) -> object:
            return other.encode(texts, batch_size=size, normalize_embeddings=True, show_progress_bar=False)

        def _encode_some(size: int, _: int) -> object:
            return encode(texts[0][: amounts.tried], size)

        found = in_turn(
            f"MiniLM's best batch size, {amounts.tried} posts",
            {str(size): partial(_encode_some, size) for size in BATCH_SIZES},
            1,
        )
        best = int(min(found, key=lambda size: found[size][0]))
        tasks[DEFAULT] = lambda i: encode(texts[i], 32)
        if best != 32:
            tasks[f"MiniLM, batches of {best}, its best"] = lambda i: encode(texts[i], best)
    seconds = in_turn(f"encoding {len(posts[0]):,} posts a round", tasks, amounts.encode_rounds)
    return {"posts": len(posts[0]), "seconds": seconds}


def _fresh_build(folder: Path, posts: Path, model: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    build_corpus(folder, [str(posts)], str(model), PostColumns())


def built(posts: Path, model: Path, corpus: Path, amounts: Amounts) -> dict[str, Any]:
    """Build a corpus in a separate process."""
    shutil.rmtree(corpus, ignore_errors=True)
    seconds, peak = _run(_build_command(posts, model, corpus, amounts))
    return {"seconds": seconds, "peak": peak, "bytes": folder_size(corpus), "input": posts.stat().st_size}


def killed(posts: Path, model: Path, whole: Path, corpus: Path, amounts: Amounts) -> dict[str, Any]:
    """Kill a build in the middle, resume it, and compare it with an uninterrupted one."""
    shutil.rmtree(corpus, ignore_errors=True)
    command = _build_command(posts, model, corpus, amounts)
    wanted = Store.open(whole).count() * random.Random(7).uniform(0.35, 0.65)
    process = subprocess.Popen(command)
    while process.poll() is None and _count(corpus) < wanted:
        time.sleep(0.02)
    time.sleep(0.3 * random.Random(8).random())
    process.kill()
    if process.wait() == 0:
        raise RuntimeError("the build had ended before it was killed; take more posts")
    there = _count(corpus)
    say(f"    killed with {there:,} posts there")
    seconds, peak = _run(command)
    verify, _ = _run([*_linker(amounts), "corpus", "verify", str(corpus)])
    ids, vectors = zip(*(content(Store.open(folder)) for folder in (whole, corpus)))
    count = min(map(len, vectors))
    difference = max(
        float(np.abs(vectors[0][i : i + 65_536] - vectors[1][i : i + 65_536]).max())
        for i in range(0, count, 65_536)
    )
    return {
        "there": there,
        "seconds": seconds,
        "peak": peak,
        "verify": verify,
        "posts": len(ids[1]),
        "same": bool(ids[0].equals(ids[1])),
        "difference": difference,
    }


def questions(corpus: Path, articles: Sequence[Article], model: Path, amounts: Amounts) -> dict[str, Any]:
    """Measure setup times, and searches against a plain matrix product."""
    asked = articles[1::2]
    once: dict[str, float] = {}
    opened = _timed(once, "opening", lambda: Corpus.open(corpus, model))
    _timed(once, "first question", lambda: opened.rank(asked[0], TOP, fusion="none"))
    _timed(once, "first question with words", lambda: opened.rank(asked[0], TOP, fusion="zscore"))
    encoder = embedding_submodel(opened.model)
    assert encoder is not None
    vectors, given = encoded(opened, asked)
    matrix = np.array(content(opened.store)[1])

    def ask(corpus: Corpus, **options: Any) -> Callable[[int], Sequence[RankedPost]]:
        return lambda i: corpus.rank(asked[i % len(asked)], TOP, **{"fusion": "none", **options})

    tasks: dict[str, Callable[[int], object]] = {
        FLOOR: lambda i: plain_search(matrix, vectors[i % len(asked)]),
        EXACT: ask(given),
        WORDS: ask(given, fusion="zscore"),
        WHOLE: lambda i: opened.rank(asked[i % len(asked)], TOP),
        PASSAGES: ask(opened, passages="best"),
        ARTICLE: lambda i: encoder.article_vectors([asked[i % len(asked)]]),
    }
    seconds = in_turn(f"questions to {len(matrix):,} posts", tasks, amounts.rounds)
    return {"once": once, "seconds": seconds}


def encoded(corpus: Corpus, articles: Sequence[Article]) -> tuple[np.ndarray, Corpus]:
    """Return the articles' embeddings, and the corpus with a model that already has them."""
    encoder = embedding_submodel(corpus.model)
    assert encoder is not None
    vectors = encoder.article_vectors(articles)
    assert vectors is not None
    return vectors, Corpus(corpus.store, _Given(dict(zip(articles, vectors))))


def _timed(into: dict[str, float], name: str, task: Callable[[], T]) -> T:
    start = time.perf_counter()
    result = task()
    into[name] = time.perf_counter() - start
    say(f"    {name:28} {into[name]:10.2f} s")
    return result


def plain_search(matrix: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Return the indices of the best 100 by a matrix product: the lower bound, without ids, texts or deduplication."""
    scores = matrix @ query
    if len(scores) > TOP:
        best = np.argpartition(scores, len(scores) - TOP)[-TOP:]
    else:
        best = np.arange(len(scores))
    return best[np.argsort(-scores[best])]


class _Given(Model):
    """Model with precomputed vectors of the articles."""

    def __init__(self, vectors: dict[Article, np.ndarray]) -> None:
        self._vectors = vectors

    def article_vectors(self, articles: Sequence[Article]) -> np.ndarray:
        return np.stack([self._vectors[article] for article in articles])

    def post_vectors(self, posts: Sequence[Post]) -> np.ndarray:
        raise NotImplementedError  # they are in the corpus


def content(store: Store) -> tuple[Any, np.ndarray]:
    """Return ids and embeddings of a corpus."""
    dataset = store.dataset()
    assert dataset is not None
    ids = dataset.to_table(columns=["id"]).column("id").combine_chunks()
    shards = Shards(store.folder, dataset)
    arrays = shards.arrays(VECTORS_FILE, "reading embeddings", stored_vectors)
    return ids, np.concatenate(list(live_rows(vectors_of(shards, arrays), 65_536)))


def _linker(amounts: Amounts) -> list[str]:
    return [sys.executable, "-c", _COMMAND, str(amounts.append)]


def _build_command(posts: Path, model: Path, corpus: Path, amounts: Amounts) -> list[str]:
    return [*_linker(amounts), "corpus", "build", str(posts), "--model", str(model), "--out", str(corpus)]


def _run(command: Sequence[str]) -> tuple[float, int]:
    """Return seconds and peak bytes (resident set, children included) of a command that must succeed."""
    start = time.perf_counter()
    process = subprocess.Popen(command)
    peaks: dict[int, int] = {}
    while process.poll() is None:
        for pid in _family(process.pid):
            peaks[pid] = max(peaks.get(pid, 0), _peak(pid))
        time.sleep(0.05)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command[3:])}: ended with exit code {process.returncode}")
    return time.perf_counter() - start, sum(peaks.values())


def _family(pid: int) -> list[int]:
    found = [pid]
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [one for child in children.read_text().split() for one in _family(int(child))]
        except OSError:
            continue  # it has just ended
    return found


def _peak(pid: int) -> int:
    """VmHWM, in bytes. wait4 would start from the memory of the parent process."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def _count(corpus: Path) -> int:
    return Store.open(corpus).count() if (corpus / FACTS).is_file() else 0


def folder_size(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
