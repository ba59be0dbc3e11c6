"""`linker mine`: training data from archives of tweet objects and from labeled texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from linker.common.concurrency import cores
from linker.common.errors import LinkerError

if TYPE_CHECKING:
    from linker.contrib.twitter4sse.links import Report
    from linker.contrib.twitter4sse.tweets import TweetFilter

app = typer.Typer(
    help="Extract training pairs and benchmarks from archives of tweet objects.", no_args_is_help=True
)

Archives = Annotated[
    list[Path],
    typer.Argument(
        help="Archives of tweet objects: folders or files of JSON Lines, plain or in .gz, .bz2, .xz or .zst.",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="Number of processes.", show_default="number of cores")
]
MinLength = Annotated[
    int, typer.Option("--min-length", min=1, help="Minimum length of a tweet's cleaned text, in characters.")
]
Languages = Annotated[
    list[str],
    typer.Option(
        "--lang", help="Language of the tweets (their `lang` field), or any for all languages; repeatable."
    ),
]
OnError = Annotated[
    Literal["strict", "skip"],
    typer.Option(
        "--on-error", help="On a damaged archive: stop (strict), or use what precedes the damage (skip)."
    ),
]


def _command(name: str, help_: str) -> None:
    @app.command(name, help=help_)
    def mine(
        archives: Archives,
        out: Annotated[Path, typer.Option("--out", help="File for the pairs, such as pairs.jsonl.gz.")],
        max_pairs: Annotated[
            int | None,
            typer.Option(
                "--max-pairs",
                min=1,
                metavar="N",
                help="Write a random sample of N pairs.",
                show_default="all",
            ),
        ] = None,
        min_length: MinLength = 20,
        lang: Languages = ["en"],  # noqa: B006  (typer copies it)
        workers: Workers = None,
        on_error: OnError = "strict",
    ) -> None:
        from linker.contrib.twitter4sse.mine_pairs import mine_pairs

        _check_output(out, archives)
        filter = _filter(min_length, lang)
        _print(mine_pairs(archives, name, out, filter, max_pairs, workers or cores(), on_error), out)


for _name, _help in {
    "quotes": "Pair tweets with tweets that quote them.",
    "replies": "Pair tweets with replies to them, if the archives contain both.",
    "coquotes": "Pair tweets that quote the same tweet.",
    "coreplies": "Pair tweets that reply to the same tweet.",
}.items():
    _command(_name, _help)


@app.command()
def benchmarks(
    archives: Archives,
    out: Annotated[Path, typer.Option("--out", help="Folder for the benchmarks and training sets.")],
    train: Annotated[
        list[Path] | None,
        typer.Option(
            "--train",
            help="File of training pairs to copy without the tweets of the benchmarks; repeatable.",
            show_default=False,
        ),
    ] = None,
    queries: Annotated[
        int, typer.Option("--queries", min=1, help="Maximum number of queries in each benchmark.")
    ] = 5000,
    min_length: MinLength = 20,
    lang: Languages = ["en"],  # noqa: B006
    workers: Workers = None,
    on_error: OnError = "strict",
) -> None:
    """Build the reranking benchmarks DQ, DR, CQ and CR, and training sets that exclude their tweets."""
    from linker.contrib.twitter4sse.mine_benchmarks import mine_benchmarks

    filter, train = _filter(min_length, lang), train or []
    if out.exists() and not out.is_dir():
        raise LinkerError(f"{out}: is a file; give a folder to write to")
    _check_output(out / "benchmarks.report.json", archives)
    for path in train:
        if not path.is_file():
            raise LinkerError(f"{path}: file not found; give training pairs of `linker mine`")
        if [other.name for other in train].count(path.name) > 1:
            raise LinkerError(f"--train: several files are named {path.name}; rename one")
        _check_output(out / "train" / path.name, [*archives, *train])
    report = mine_benchmarks(
        archives, out, train, filter, queries, workers=workers or cores(), on_error=on_error
    )
    _print(report, out)


@app.command()
def augmented(
    labels: Annotated[
        Path,
        typer.Argument(
            help="File of labeled texts with columns tweet_id, topic, class and, optionally, text.",
            show_default=False,
        ),
    ],
    model: Annotated[
        str,
        typer.Option(
            "--model", help="Masked language model that replaces words: a Hugging Face folder or name."
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", help="File for the augmented texts, such as augmented.jsonl.")
    ],
    texts: Annotated[
        Path | None,
        typer.Option(
            "--texts",
            help="File with columns id and text, if the file of labels has no texts.",
            show_default=False,
        ),
    ] = None,
    keep_topic: Annotated[
        list[str] | None,
        typer.Option(
            "--keep-topic", help="Topic whose texts are left unchanged; repeatable.", show_default=False
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Random seed for the choice of words.")] = 0,
    on_error: Annotated[
        Literal["strict", "skip"],
        typer.Option(
            "--on-error", help="On invalid lines and labels without text: stop (strict), or skip them (skip)."
        ),
    ] = "strict",
) -> None:
    """Augment labeled texts: swap in topic words and names of other topics, and replace words by a model."""
    from linker.common.console import info
    from linker.common.files import check_writable
    from linker.contrib.wrapresentations.augmentation import augment
    from linker.contrib.wrapresentations.reader import LabeledTexts

    check_writable(out, [labels, *([texts] if texts else [])])
    reader = LabeledTexts(str(labels), str(texts) if texts else None, classes=None, on_error=on_error)
    counts = augment(reader.read().posts, model, out, set(keep_topic or []), seed)
    info(
        f"{counts.texts:,} texts: {counts.topic_words:,} topic words and {counts.entities:,} names, hashtags and "
        f"mentions replaced, {counts.filled:,} words filled in by the model; {counts.kept:,} texts unchanged"
    )
    print(out)


def _print(report: Report, out: Path) -> None:
    from linker.common.console import stderr, table_of_counts, warn

    stderr.print(table_of_counts(report.sections()))
    for damage in report.damaged:
        warn(damage)
    print(out)


def _filter(min_length: int, lang: list[str]) -> TweetFilter:
    from linker.contrib.twitter4sse.tweets import TweetFilter

    if "any" in lang and len(lang) > 1:
        raise LinkerError(f"--lang any excludes other languages (given: {', '.join(lang)})")
    return TweetFilter(min_length, () if lang == ["any"] else tuple(sorted(set(lang))))


def _check_output(out: Path, archives: list[Path]) -> None:
    """Refuse outputs that cannot be written, and those among the archives: the next run would read them."""
    from linker.common.files import check_writable, real_path

    check_writable(out, archives)
    for archive in archives:
        if archive.is_dir() and real_path(out).is_relative_to(real_path(archive)):
            raise LinkerError(f"{out}: inside {archive}, among the archives; write it to another folder")
