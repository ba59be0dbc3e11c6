"""`linker plot`: figures of models, rankings, calibrations and simulations."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from linker.cli.command import App
from linker.cli.options import LinkedData
from linker.common.errors import LinkerError

if TYPE_CHECKING:
    from linker.plots.data import ScoredPairs

app = App(help="Plot models, rankings, calibrations and simulated annotation.", no_args_is_help=True)

Seed = Annotated[int, typer.Option("--seed", help="Random seed for the sample.")]


@dataclass
class Output:
    """The files of a figure."""

    out: Annotated[Path, typer.Option(help="Figure file to write: .svg, .png or .pdf.")]
    data: Annotated[Path | None, typer.Option(help="Also write the plotted numbers to this JSON file.")] = (
        None
    )

    def check(self, *inputs: Path | None) -> None:
        """Check the names of files before any work.

        Raises:
            LinkerError: if the figure cannot be drawn or written, or an input is missing.
        """
        from linker.common.files import check_writable, real_path
        from linker.plots.style import check_figure

        paths = [path for path in inputs if path is not None]
        check_figure(self.out, paths)
        if self.data is not None:
            if real_path(self.data) == real_path(self.out):
                raise LinkerError(f"--data {self.data}: same file as the figure; give another name")
            check_writable(self.data, paths)
        for path in paths:
            if not path.is_file():
                raise LinkerError(f"{path}: {'is a folder' if path.is_dir() else 'file not found'}")

    def write(self, figure: Any, numbers: Any) -> None:
        """Write the figure, and its numbers if a file was given."""
        from linker.common.files import write_json
        from linker.plots.style import save

        save(figure, self.out)
        if self.data is not None:
            write_json(self.data, asdict(numbers))
        print(self.out)


@dataclass
class Scores:
    """Scores and labels: a file of both, or a model that scores articles and posts."""

    ranking: Annotated[
        Path | None,
        typer.Argument(
            help="File of posts with scores and labels; without it, give --model, --articles and --posts."
        ),
    ] = None
    score: Annotated[str, typer.Option(help="Column of RANKING with the scores.")] = "score"
    label: Annotated[
        str | None,
        typer.Option(
            help="Column of RANKING with the relevance labels.",
            show_default="label, relevant, included or similar",
        ),
    ] = None
    model: Annotated[
        str | None,
        typer.Option(
            help="Model that scores --posts when RANKING is not given: a folder, best, distilled, bm25 or tfidf."
        ),
    ] = None

    def inputs(self, linked: LinkedData) -> list[Path | None]:
        """Return the files that are read."""
        return [self.ranking, *(linked.check() if linked.articles else [])]

    def read(self, linked: LinkedData) -> ScoredPairs:
        """Return the scored pairs.

        Raises:
            LinkerError: if there are both or neither, or a file cannot be read.
        """
        from linker.models.files.resolve import resolve_model
        from linker.plots.data import read_scored_pairs, score_pairs

        named = self.model or linked.articles or linked.posts
        if self.ranking is not None:
            if named or linked.split:
                raise LinkerError("give RANKING, or --model, --articles and --posts; not both")
            return read_scored_pairs(str(self.ranking), self.score, self.label)
        if self.model is None or linked.articles is None or not linked.posts:
            raise LinkerError(
                "give RANKING, a file with scores and labels; or --model, --articles and --posts"
            )
        reference = resolve_model(self.model)
        return score_pairs(reference.load(), linked.read(), self.model)


@app.command()
def tsne(
    *,
    model: Annotated[str, typer.Option(help="Model with embeddings.")],
    linked: LinkedData,
    count: Annotated[int, typer.Option(min=1, help="Number of articles whose posts are shown.")] = 10,
    seed: Seed = 13,
    output: Output,
) -> None:
    """Plot a t-SNE map of the posts of the most shared articles."""
    output.check(*linked.check())
    from linker.models.files.resolve import resolve_model
    from linker.plots.tsne import figure, vector_map

    numbers = vector_map(resolve_model(model).load(), linked.read(), count, seed, model)
    output.write(figure(numbers), numbers)


@app.command()
def retrieved(
    *,
    scores: Scores,
    linked: LinkedData,
    threshold: Annotated[
        float, typer.Option(help="Score, 0 to 100, from which a post counts as retrieved.")
    ] = 70.0,
    output: Output,
) -> None:
    """Plot how many relevant and irrelevant posts a score threshold retrieves and misses."""
    output.check(*scores.inputs(linked))
    from linker.plots.retrieved import figure
    from linker.plots.retrieved import retrieved as count_pairs

    numbers = count_pairs(scores.read(linked), threshold)
    output.write(figure(numbers), numbers)


@app.command()
def reliability(
    *,
    scores: Scores,
    linked: LinkedData,
    calibration: Annotated[
        Path | None,
        typer.Option(
            help="Plot a calibration file written by `linker calibrate`, instead of RANKING or a model."
        ),
    ] = None,
    method: Annotated[
        Literal["platt", "isotonic"],
        typer.Option(
            help="Calibration method: a logistic curve (platt) or a monotone step function (isotonic)."
        ),
    ] = "platt",
    bins: Annotated[int, typer.Option(min=2, help="Number of equal-width bins.")] = 10,
    seed: Seed = 13,
    output: Output,
) -> None:
    """Plot a reliability diagram: predicted probabilities against observed relevance."""
    output.check(calibration, *scores.inputs(linked))
    from linker.plots.reliability import figure
    from linker.plots.reliability import reliability as measure

    if calibration is None:
        numbers = measure(scores.read(linked), method, bins, seed)
    else:
        from linker.calibration.calibration import Calibration

        if scores.ranking or scores.model or linked.articles or linked.posts or linked.split:
            raise LinkerError(
                "--calibration: plotted by itself; leave out RANKING and the model with its data"
            )
        numbers, method = Calibration.read(calibration).reliability, "isotonic"
    output.write(figure(numbers, method), numbers)


@app.command()
def recall(
    *,
    study: Annotated[
        Path, typer.Argument(help="Folder or file written by `linker annotate simulate --out`.")
    ],
    task: Annotated[
        str | None, typer.Option(help="Plot only this task.", show_default="the mean of all")
    ] = None,
    output: Output,
) -> None:
    """Plot recall against labels for each query strategy of a simulation."""
    from linker.plots.recall import CURVES, figure, read_curves
    from linker.plots.recall import recall as recall_of

    output.check(study / CURVES if study.is_dir() else study)
    numbers = recall_of(read_curves(study, task))
    output.write(figure(numbers), numbers)
