"""Opponents of exact search: pgvector and Lance's own search over the embeddings of a corpus.

Each is given an article's embedding and returns ids and texts of the best 100 posts. pgvector is filled by
`linker corpus export`; it needs pgserver (PostgreSQL with pgvector) and psycopg, both from PyPI.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpus.measurements import EXACT, TOP, Amounts, content, encoded, folder_size, plain_search
from benchmarks.measurement import in_turn, say
from linker.corpus.corpus import Corpus
from linker.corpus.export import export_postgresql
from linker.data.types import Article

Search = Callable[[np.ndarray], Sequence[str]]

_NEAREST = "SELECT id, text FROM posts ORDER BY embedding <=> %s::vector LIMIT %s"
_CANDIDATES = (100, 400)  # of an HNSW index; 1,000 is the most that pgvector allows
_SHARES = (0.05, 0.25)  # of the partitions of an IVF index


def opponents(
    folder: Path, articles: Sequence[Article], model: Path, work: Path, amounts: Amounts
) -> dict[str, Any]:
    """Measure seconds per question, recall@100 of the exact order, seconds to fill and index, and bytes on disk.

    Args:
        folder: the corpus.
        articles: questions, another in every round.
        model: the corpus's model.
        work: folder for the opponents' data, removed at the end.
        amounts: number of rounds.
    """
    corpus, asked = Corpus.open(folder, model), articles[1::2]
    vectors, given = encoded(corpus, asked)
    ids, matrix = content(corpus.store)
    names = np.array(ids.to_pylist(), dtype=object)
    best = [set(names[plain_search(matrix, query)]) for query in vectors]
    found: dict[str, Any] = {"made": {}, "recall": {}, "seconds": {}}
    tasks: dict[str, Callable[[int], object]] = {
        EXACT: lambda i: given.rank(asked[i % len(asked)], TOP, fusion="none")
    }
    shutil.rmtree(work, ignore_errors=True)
    with _pgvector(corpus, work / "pgvector", found["made"]) as postgresql:
        searches = {**_lance(corpus, names, matrix, work / "lance", found["made"]), **postgresql}
        for name, search in searches.items():
            recalls = [
                len(best[i].intersection(search(query))) / len(best[i]) for i, query in enumerate(vectors)
            ]
            found["recall"][name] = float(np.mean(recalls))
            tasks[name] = partial(_ask, search, vectors)
        found["seconds"] = in_turn(f"opponents, {len(matrix):,} posts", tasks, amounts.rounds)
    shutil.rmtree(work)
    return found


def _ask(search: Search, vectors: np.ndarray, number: int) -> Sequence[str]:
    return search(vectors[number % len(vectors)])


def _lance(
    corpus: Corpus, ids: np.ndarray, matrix: np.ndarray, folder: Path, made: dict[str, Any]
) -> Mapping[str, Search]:
    """Return Lance's search of all embeddings in float32, and with its IVF index."""
    import lance
    import pyarrow as pa

    dataset = corpus.store.dataset()
    assert dataset is not None
    texts = dataset.to_table(columns=["text"]).column("text")
    column = pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), matrix.shape[1])
    table = pa.table({"id": pa.array(ids.tolist()), "text": texts, "embedding": column})

    def search(dataset: lance.LanceDataset, probes: int | None, query: np.ndarray) -> Sequence[str]:
        nearest: dict[str, Any] = {"column": "embedding", "q": query, "k": TOP, "metric": "cosine"}
        if probes:
            nearest |= {"nprobes": probes, "refine_factor": 2}
        rows = dataset.to_table(columns=["id", "text", "_distance"], nearest=nearest)
        return [str(id_) for id_ in rows.column("id").to_pylist()]

    with _made("Lance, exact", folder / "exact", made):
        plain = lance.write_dataset(table, str(folder / "exact"))
    searches: dict[str, Search] = {"Lance, exact": partial(search, plain, None)}
    partitions = max(1, int(np.sqrt(len(ids))))
    with _made("Lance, IVF_SQ", folder / "indexed", made):
        indexed = lance.write_dataset(table, str(folder / "indexed"))
        indexed.create_index("embedding", "IVF_SQ", metric="cosine", num_partitions=partitions)
    for share in _SHARES:
        probes = max(1, round(share * partitions))
        searches[f"Lance, IVF_SQ, {share:.0%} of {partitions:,} partitions"] = partial(
            search, indexed, probes
        )
    return searches


@contextmanager
def _pgvector(corpus: Corpus, folder: Path, made: dict[str, Any]) -> Iterator[Mapping[str, Search]]:
    """Yield pgvector's exact search and that of its HNSW index, on a server on a local socket."""
    try:
        import pgserver  # type: ignore[import-not-found]
        import psycopg  # type: ignore[import-not-found]
    except ImportError as error:
        say(f"    pgvector is left out: {error}")
        yield {}
        return

    export_postgresql(corpus.store, folder / "export")
    server = pgserver.get_server(folder / "data")
    try:
        with _made("pgvector, HNSW", folder / "data", made):
            psql = Path(pgserver.__file__).parent / "pginstall" / "bin" / "psql"
            command = [str(psql), server.get_uri(), "-q", "-v", "ON_ERROR_STOP=1", "-f", "load.sql"]
            # pgvector's documentation advises to give an index memory.
            memory = {"PGOPTIONS": "-c maintenance_work_mem=2GB"}
            subprocess.run(command, cwd=folder / "export", env=os.environ | memory, check=True)
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:

            def search(candidates: int | None, query: np.ndarray) -> Sequence[str]:
                scan, other = ("index", "seq") if candidates else ("seq", "index")
                connection.execute(f"SET enable_{scan}scan = on; SET enable_{other}scan = off")
                connection.execute(f"SET hnsw.ef_search = {candidates or TOP}")
                numbers = "[" + ",".join(map(repr, query.tolist())) + "]"
                return [id_ for id_, _ in connection.execute(_NEAREST, (numbers, TOP)).fetchall()]

            searches: dict[str, Search] = {"pgvector, exact": partial(search, None)}
            for candidates in _CANDIDATES:
                searches[f"pgvector, HNSW, {candidates} candidates"] = partial(search, candidates)
            yield searches
    finally:
        server.cleanup()


@contextmanager
def _made(name: str, folder: Path, made: dict[str, Any]) -> Iterator[None]:
    start = time.perf_counter()
    yield
    made[name] = {"seconds": time.perf_counter() - start, "bytes": folder_size(folder)}
    say(f"    {name:28} {made[name]['seconds']:10.1f} s to fill")
