"""How good every model is on the same real posts, and at what cost: makes benchmarks/quality.md in one command.

    python benchmarks/quality.py --data ../shared/data --work WORK

DATA holds plazz_commentary, politifact_tweets, snopes_claims and tagmynews; WORK takes training sets, what the teacher
said, word vectors, model folders and scores. What is there already is not made again, so an interrupted run goes on
where it stopped. Needs MiniLM (extra `bench`), and hours.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from quality_report import report
from quality_runs import ROOT, SEEDS, TAUGHT, Workplace
from quality_sets import SOURCES, prepare


def make(place: Workplace, jobs: int) -> None:
    """Train what is to be measured."""
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "quality.md")
    parser.add_argument("--jobs", type=int, default=2, help="training runs side by side")
    parser.add_argument("--report", action="store_true", help="only measure what is there")
    options = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    place = Workplace(options.work.resolve())
    prepare(options.data.resolve(), place.work)
    if not options.report:
        make(place, options.jobs)
    report(place, options.out)
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
