"""The files that an evaluation leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from linker.errors import LinkerError
from linker.evaluation.comparison import Comparison
from linker.evaluation.contenders import Contender
from linker.evaluation.scores import write_scores
from linker.evaluation.trec import check_ids, write_qrels, write_run
from linker.files import check_writable
from linker.models.folder import write_json

PLACEHOLDER = "{model}"


@dataclass(frozen=True)
class Outputs:
    """What is to be written where; None: not at all.

    `run` and `scores` hold one model. A name with `{model}` in it stands for one file a model, baselines
    included; any other is the file of the one model that was given.
    """

    json: Path | None = None
    qrels: Path | None = None
    run: Path | None = None
    scores: Path | None = None

    def check(self, contenders: Sequence[Contender], given: int, inputs: Sequence[Path]) -> None:
        """Find out before any work whether everything can be written.

        Args:
            contenders: all models, the `given` first ones given by the user.
            given: how many the user gave.
            inputs: files that must not be overwritten.

        Raises:
            LinkerError: a file that cannot be written, is named twice, is an input, or would hold several
                models.
        """
        for option, pattern in (("--run", self.run), ("--scores", self.scores)):
            if pattern and given > 1 and PLACEHOLDER not in str(pattern):
                suggestion = pattern.with_name(f"{pattern.stem}-{PLACEHOLDER}{pattern.suffix}")
                raise LinkerError(
                    f"{option} {pattern}: one file cannot hold {given} models; write {PLACEHOLDER} where "
                    f"their names belong, as in {option} '{suggestion}'"
                )
        taken = {path.resolve(): f"the input {path}" for path in inputs}
        for path in self._all(contenders, given):
            if path.resolve() in taken:
                raise LinkerError(f"{path}: would overwrite {taken[path.resolve()]}; choose another name")
            taken[path.resolve()] = "another output of this command"
            check_writable(path)

    def check_ids(self, article_ids: Sequence[str], post_ids: Sequence[str]) -> None:
        """Find out before any model scores whether the files can hold the ids.

        Raises:
            LinkerError: TREC files are wanted, and an id is empty or holds white space.
        """
        if self.run or self.qrels:
            check_ids(article_ids, post_ids)

    def write_model(
        self, contender: Contender, is_first: bool, scores: np.ndarray, comparison: Comparison
    ) -> None:
        """Write the run and the scores of one model, if they are wanted of it."""
        ids = comparison.article_ids, comparison.post_ids
        if run := _path(self.run, contender, is_first):
            write_run(run, scores, *ids, tag=contender.file_name)
        if file := _path(self.scores, contender, is_first):
            write_scores(file, scores, *ids)

    def write_rest(self, comparison: Comparison, baseline: str) -> None:
        """Write the qrels and the results."""
        if self.qrels:
            write_qrels(self.qrels, comparison.relevance, comparison.article_ids, comparison.post_ids)
        if self.json:
            write_json(self.json, comparison.as_json(baseline))

    def _all(self, contenders: Sequence[Contender], given: int) -> list[Path]:
        paths = [self.json, self.qrels]
        for number, contender in enumerate(contenders):
            paths += [_path(pattern, contender, number == 0) for pattern in (self.run, self.scores)]
        return [path for path in paths if path is not None]


def _path(pattern: Path | None, contender: Contender, is_first: bool) -> Path | None:
    """The file of this model; None where it gets none."""
    if pattern is None:
        return None
    if PLACEHOLDER in str(pattern):
        return Path(str(pattern).replace(PLACEHOLDER, contender.file_name))
    return pattern if is_first else None
