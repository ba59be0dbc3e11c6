"""Measure models on reranking sets and graded pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from linker.common.console import info
from linker.common.errors import LinkerError
from linker.common.files import check_writable, write_json
from linker.data.files.line_errors import OnError
from linker.evaluation.benchmarks.graded_pairs import PairColumns, read_pairs, similarity_figures
from linker.evaluation.benchmarks.reranking import read_reranking, rerank
from linker.models.files.resolve import ModelReference
from linker.models.model import Model


@dataclass(frozen=True)
class Benchmark:
    """Results of the models on one file.

    Attributes:
        name: name of the file.
        size: its size in words, such as `3 queries`.
        models: model → metric → value (fractions; correlations).
    """

    name: str
    size: str
    models: dict[str, dict[str, float]] = field(default_factory=dict)


def measure_benchmarks(
    references: Sequence[ModelReference],
    rerankings: Sequence[Path],
    similarities: Sequence[Path],
    columns: PairColumns,
    json: Path | None = None,
    on_error: OnError = "strict",
) -> list[Benchmark]:
    """Measure every model on every file; all files are read and all models loaded before the first one scores.

    Args:
        references: the models.
        rerankings: sets of `linker mine benchmarks`.
        similarities: files of pairs.
        columns: columns of the pairs.
        json: file to write the figures to.
        on_error: what to do with invalid lines of `similarities`.

    Raises:
        LinkerError: if a file or model cannot be read, or scores are not finite.
    """
    files = [*rerankings, *similarities]
    if json is not None:
        check_writable(json, files)
    benchmarks: list[Benchmark] = []
    tasks: list[Callable[[Model], dict[str, float]]] = []
    for path in rerankings:
        queries = read_reranking(path)
        benchmarks.append(Benchmark(_name(path, files), f"{len(queries):,} queries"))
        tasks.append(lambda model, queries=queries: rerank(model, queries).metrics)  # type: ignore[misc]
    for path in similarities:
        pairs = read_pairs(path, columns, on_error)
        benchmarks.append(Benchmark(_name(path, files), pairs.size))
        tasks.append(lambda model, pairs=pairs: similarity_figures(model, pairs))  # type: ignore[misc]
    models = [reference.load() for reference in references]
    for reference, model in zip(references, models):
        for benchmark, task in zip(benchmarks, tasks):
            text = f"{reference.name}: {benchmark.name}, {benchmark.size}"
            info(text, "dim")
            try:
                benchmark.models[reference.name] = task(model)
            except LinkerError as error:
                raise LinkerError(f"{reference.name} on {benchmark.name}: {error}") from error
    if json is not None:
        write_json(json, {"benchmarks": [asdict(benchmark) for benchmark in benchmarks]})
    return benchmarks


def _name(path: Path, files: Sequence[Path]) -> str:
    """The file's name, or its whole path if two files have the same name."""
    return path.name if [file.name for file in files].count(path.name) == 1 else str(path)
