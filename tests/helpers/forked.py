"""Commands in processes of their own, forked from one that has done their imports: a fraction of a second each.

What a command imports, and how long it takes to start, needs a process that begins with nothing:
tests/cli/test_startup.py and tests/cli/test_main.py.
"""

import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

# Imported once, in the process from which all others are forked: nothing that starts threads or opens files.
_PRELOADED = [
    "linker.training.experiment", "linker.cli.main", "linker.modules.encoders.star_transformer",
    "linker.modules.losses.triplet_margin", "linker.modules.miners",
    "linker.data.readers.articles_and_posts", "torch.utils.tensorboard", "sklearn.metrics",
    "linker.data.splitters.by_column", "linker.data.tokenizers.social",
    "linker.modules.embedders.word_vectors", "torch._dynamo", "_jsonnet",
    "linker.training.distributed.process_group", "torch.distributed", "linker.evaluation.evaluate",
    "linker.models.features.words", "linker.ranking.ranker",
    "linker.annotation.simulation.simulate", "scipy.stats", "tests.helpers.training_runs",
    "tests.helpers.process_groups", "tests.helpers.warm",
]  # fmt: skip
context = multiprocessing.get_context("forkserver")
context.set_forkserver_preload(_PRELOADED)


def run_linker(
    folder: Path, *arguments: str, given: str = "", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """`linker ARGUMENTS` in `folder`, with `given` on standard input."""
    return run_module(folder, "linker", *arguments, given=given, environment=environment)


def run_module(
    folder: Path, module: str, *arguments: str, given: str = "", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """`python -m MODULE ARGUMENTS` in `folder`, with the folders of `PYTHONPATH` before those of the tests."""
    with tempfile.TemporaryDirectory() as streams:
        (Path(streams) / "0").write_text(given, encoding="utf-8")
        process = context.Process(
            target=_child, args=(str(folder), streams, module, arguments, dict(environment or os.environ))
        )
        process.start()
        process.join(300)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired([module, *arguments], 300)
        printed = [(Path(streams) / name).read_text(encoding="utf-8") for name in "12"]
    return subprocess.CompletedProcess([module, *arguments], process.exitcode, *printed)


def _child(
    folder: str, streams: str, module: str, arguments: tuple[str, ...], environment: Mapping[str, str]
) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        mode = os.O_WRONLY | os.O_CREAT if number else os.O_RDONLY
        os.dup2(os.open(os.path.join(streams, str(number)), mode), number)
        setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115
    before = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:0] = [folder, *before]
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
