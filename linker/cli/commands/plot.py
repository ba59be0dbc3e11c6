"""`linker plot`: figures of models, rankings, calibrations and simulations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from linker.cli.options import Packages, include_packages
from linker.common.errors import LinkerError

if TYPE_CHECKING:
    from linker.data.types import LinkedPosts
    from linker.plots.data import ScoredPairs

app = typer.Typer(help="Plot models, rankings, calibrations and simulated annotation.", no_args_is_help=True)

Out = Annotated[Path, typer.Option("--out", help="Figure file to write: .svg, .png or .pdf.")]
Data = Annotated[
    Path | None, typer.Option("--data", help="Also write the plotted numbers to this JSON file.")
]
ModelFolder = Annotated[str, typer.Option("--model", help="Model folder to plot.")]
Articles = Annotated[
    Path, typer.Option("--articles", help="File of articles: JSON lines, CSV, TSV or Parquet.")
]
Posts = Annotated[
    Path, typer.Option("--posts", help="File of posts with an article_id or article_ids column.")
]
Split = Annotated[
    str | None,
    typer.Option("--split", help="Use only the articles and posts of this split.", show_default="all"),
]
Seed = Annotated[int, typer.Option("--seed", help="Random seed for the sample.")]
Ranking = Annotated[
    Path | None,
    typer.Argument(
        help="File of posts with scores and labels; without it, give --model, --articles and --posts.",
        show_default=False,
    ),
]
ScoreColumn = Annotated[str, typer.Option("--score", help="Column of RANKING with the scores.")]
LabelColumn = Annotated[
    str | None,
    typer.Option(
        "--label",
        help="Column of RANKING with the relevance labels.",
        show_default="label, relevant, included or similar",
    ),
]
AnyModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="Model that scores --posts when RANKING is not given: a folder, best, distilled, bm25 or tfidf.",
    ),
]
AnyArticles = Annotated[
    Path | None, typer.Option("--articles", help="File of articles to score when RANKING is not given.")
]
AnyPosts = Annotated[
    Path | None,
    typer.Option(
        "--posts",
        help="File of posts with an article_id or article_ids column, to score when RANKING is not given.",
    ),
]


@app.command()
def alphas(model: ModelFolder, out: Out, data: Data = None, include_package: Packages = None) -> None:
    """Plot the entmax alpha that each attention head learned, for ring and star attention."""
    _check(out, data)
    include_packages(include_package)
    from linker.models.archive import load_model
    from linker.plots.alphas import alphas as alphas_of
    from linker.plots.alphas import figure

    _folder_only(model)
    numbers = alphas_of(load_model(model), model)
    _write(figure(numbers), out, numbers, data)


@app.command()
def tsne(
    model: ModelFolder,
    articles: Articles,
    posts: Posts,
    out: Out,
    split: Split = None,
    count: Annotated[
        int, typer.Option("--count", min=1, help="Number of articles whose posts are shown.")
    ] = 10,
    seed: Seed = 13,
    data: Data = None,
    include_package: Packages = None,
) -> None:
    """Plot a t-SNE map of the posts of the most shared articles."""
    _check(out, data, articles, posts)
    include_packages(include_package)
    from linker.models.resolve import resolve_model
    from linker.plots.tsne import figure, vector_map

    found = resolve_model(model)
    linked = _linked(articles, posts, split)
    numbers = vector_map(found.load(), linked, count, seed, model)
    _write(figure(numbers), out, numbers, data)


@app.command()
def retrieved(
    out: Out,
    ranking: Ranking = None,
    threshold: Annotated[
        float, typer.Option("--threshold", help="Score, 0 to 100, from which a post counts as retrieved.")
    ] = 70.0,
    score: ScoreColumn = "score",
    label: LabelColumn = None,
    model: AnyModel = None,
    articles: AnyArticles = None,
    posts: AnyPosts = None,
    split: Split = None,
    data: Data = None,
    include_package: Packages = None,
) -> None:
    """Plot how many relevant and irrelevant posts a score threshold retrieves and misses."""
    _check(out, data, ranking, articles, posts)
    include_packages(include_package)
    from linker.plots.retrieved import figure
    from linker.plots.retrieved import retrieved as count_retrieved

    numbers = count_retrieved(_scored(ranking, score, label, model, articles, posts, split), threshold)
    _write(figure(numbers), out, numbers, data)


@app.command()
def reliability(
    out: Out,
    ranking: Ranking = None,
    calibration: Annotated[
        Path | None,
        typer.Option(
            "--calibration",
            help="Plot a calibration file written by `linker calibrate`, instead of RANKING or a model.",
        ),
    ] = None,
    method: Annotated[
        Literal["platt", "isotonic"],
        typer.Option(
            "--method",
            help="Calibration method: a logistic curve (platt) or a monotone step function (isotonic).",
        ),
    ] = "platt",
    bins: Annotated[int, typer.Option("--bins", min=2, help="Number of equal-width bins.")] = 10,
    score: ScoreColumn = "score",
    label: LabelColumn = None,
    model: AnyModel = None,
    articles: AnyArticles = None,
    posts: AnyPosts = None,
    split: Split = None,
    seed: Seed = 13,
    data: Data = None,
    include_package: Packages = None,
) -> None:
    """Plot a reliability diagram: predicted probabilities against observed relevance."""
    _check(out, data, ranking, articles, posts, calibration)
    include_packages(include_package)
    from linker.plots.reliability import figure, of_calibration
    from linker.plots.reliability import reliability as measure

    if calibration is not None:
        if ranking or model or articles or posts or split:
            raise LinkerError(
                "--calibration: plotted by itself; leave out RANKING and the model with its data"
            )
        from linker.calibration.calibration import Calibration

        numbers = of_calibration(Calibration.read(calibration))
    else:
        numbers = measure(_scored(ranking, score, label, model, articles, posts, split), method, bins, seed)
    _write(figure(numbers), out, numbers, data)


@app.command()
def recall(
    study: Annotated[
        Path, typer.Argument(help="Folder or file written by `linker simulate --out`.", show_default=False)
    ],
    out: Out,
    task: Annotated[
        str | None, typer.Option("--task", help="Plot only this task.", show_default="the mean of all")
    ] = None,
    data: Data = None,
) -> None:
    """Plot recall against labels for each query strategy of a simulation."""
    from linker.plots.recall import CURVES, figure, read_curves
    from linker.plots.recall import recall as recall_of

    _check(out, data, study / CURVES if study.is_dir() else study)
    numbers = recall_of(read_curves(study, task))
    _write(figure(numbers), out, numbers, data)


def _check(out: Path, data: Path | None, *inputs: Path | None) -> None:
    """Check the names of files before any work."""
    from linker.common.files import check_writable, real_path
    from linker.plots.style import check_figure

    given = [path for path in inputs if path is not None]
    check_figure(out, given)
    if data is not None:
        if real_path(data) == real_path(out):
            raise LinkerError(f"--data {data}: same file as the figure; give another name")
        check_writable(data, given)
    for path in given:
        if not path.is_file():
            raise LinkerError(f"{path}: {'is a folder' if path.is_dir() else 'file not found'}")


def _folder_only(model: str) -> None:
    """Check that the model is not a lexical baseline, which has nothing to plot."""
    from linker.models.resolve import BASELINES

    if model in BASELINES:
        raise LinkerError(f"{model}: counts shared words and has nothing to show here; give a model folder")


def _linked(articles: Path, posts: Path, split: str | None) -> LinkedPosts:
    from linker.data.readers.articles_and_posts import ArticlesAndPosts
    from linker.evaluation.outputs import only_split

    linked = ArticlesAndPosts(str(articles), str(posts)).read()
    return only_split(linked, split) if split else linked


def _scored(
    ranking: Path | None,
    score: str,
    label: str | None,
    model: str | None,
    articles: Path | None,
    posts: Path | None,
    split: str | None,
) -> ScoredPairs:
    from linker.models.resolve import resolve_model
    from linker.plots.data import read_scored_pairs, score_pairs

    if ranking is not None:
        if model or articles or posts or split:
            raise LinkerError("give RANKING, or --model, --articles and --posts; not both")
        return read_scored_pairs(str(ranking), score, label)
    if model is None or articles is None or posts is None:
        raise LinkerError("give RANKING, a file with scores and labels; or --model, --articles and --posts")
    found = resolve_model(model)
    return score_pairs(found.load(), _linked(articles, posts, split), model)


def _write(figure: Any, out: Path, numbers: Any, data: Path | None) -> None:
    from dataclasses import asdict

    from linker.models.archive import write_json
    from linker.plots.style import save

    save(figure, out)
    if data is not None:
        write_json(data, asdict(numbers))
    print(out)
