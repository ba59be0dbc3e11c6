"""Measure the ranking quality and the cost of every model on the same real posts; write results/quality.md.

    python -m benchmarks.quality --data ../data --work WORK --rival all-mpnet-base-v2.jsonnet …

DATA holds plazz_commentary, politifact_tweets, snopes_claims, tagmynews and word_vectors; WORK receives training sets,
teacher embeddings, word vectors, model folders and scores. Whatever exists in WORK is reused, and interrupted runs
resume. Needs MiniLM (extra `bench`), and hours; `--report` only measures existing models.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.quality.report import report
from benchmarks.quality.runs import PAPER, RESULTS, SEEDS, TAUGHT, Workplace
from benchmarks.quality.sets import SOURCES, prepare

# The published vectors that the ones of the paper's setting start from.
NEWS_VECTORS = Path("word_vectors/word2vec_googlenews_300d_top8000.txt.gz")


def make(place: Workplace, jobs: int) -> None:
    """Train the models of the modern setting."""
    place.distil_vectors()
    place.train("mean", "mean", 1, None)
    place.train("six_layers", "six_layers", 1, None)
    with ThreadPoolExecutor(jobs) as pool:
        for student in [pool.submit(place.teach, recipe) for recipe in TAUGHT]:
            student.result()
        runs = [
            pool.submit(place.train, f"{recipe}-{seed}", recipe, seed, f"{recipe}-student")
            for seed in SEEDS
            for recipe in TAUGHT
        ]
        runs += [
            pool.submit(
                place.train, f"without-{source.name}", "best", 1, "best-student", f"without/{source.name}"
            )
            for source in SOURCES
        ]
        runs.append(pool.submit(place.train, "best-untaught", "best", 1, None))
        for run in runs:
            run.result()


def make_paper(place: Workplace, data: Path, jobs: int) -> None:
    """Train the encoders in the paper's setting, one seed of each before the next."""
    place.train_vectors(data / NEWS_VECTORS)
    with ThreadPoolExecutor(jobs) as pool:
        runs = [pool.submit(place.train_as_the_paper, encoder, seed) for seed in SEEDS for encoder in PAPER]
        for run in runs:
            run.result()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=RESULTS / "quality.md")
    parser.add_argument("--rival", type=Path, nargs="*", default=[], help="configs of models to compare with")
    parser.add_argument("--jobs", type=int, default=2, help="number of training runs at the same time")
    parser.add_argument("--paper", action="store_true", help="train only the encoders of the paper's setting")
    parser.add_argument("--report", action="store_true", help="measure existing models, train none")
    options = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    place = Workplace(options.work.resolve(), tuple(options.rival))
    data = options.data.resolve()
    prepare(data, place.work)
    if not options.report:
        make_paper(place, data, options.jobs)
        if not options.paper:
            make(place, options.jobs)
    if not options.paper:
        report(place, options.out)
        print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
