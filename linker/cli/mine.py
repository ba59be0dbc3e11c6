"""`linker mine`: training data out of archives of tweet objects, and out of labelled texts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from linker.errors import LinkerError

if TYPE_CHECKING:
    from linker.mining.cleaning import TweetFilter
    from linker.mining.report import Report

app = typer.Typer(help="Find pairs of tweets in archives of tweet objects.", no_args_is_help=True)

Archives = Annotated[
    list[Path],
    typer.Argument(
        help="Files and folders: JSON lines, .gz, .bz2, .xz, .zst, .tar, .zip.", show_default=False
    ),
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="Processes.", show_default="one for each core")
]
MinLength = Annotated[
    int, typer.Option("--min-length", min=1, help="Characters that a cleaned text must have.")
]
Languages = Annotated[
    list[str],
    typer.Option("--lang", help="Language by Twitter's guess; repeatable; any: all of them."),
]
KeepCut = Annotated[bool, typer.Option("--keep-cut", help="Take texts that are cut off, too.")]
Texts = Annotated[
    Literal["cleaned", "original"],
    typer.Option("--texts", help="Write texts cleaned, or as they were posted."),
]
OnError = Annotated[
    Literal["strict", "skip"],
    typer.Option("--on-error", help="A damaged archive: stop, or use what comes before the damage."),
]


def _command(name: str, help_: str) -> None:
    @app.command(name, help=help_)
    def mine(
        archives: Archives,
        out: Annotated[Path, typer.Option("--out", help="The file to write, such as pairs.jsonl.gz.")],
        max_pairs: Annotated[
            int | None,
            typer.Option("--max-pairs", min=1, help="A random sample of so many.", show_default="all"),
        ] = None,
        min_length: MinLength = 20,
        lang: Languages = ["en"],  # noqa: B006  (typer copies it)
        keep_cut: KeepCut = False,
        texts: Texts = "cleaned",
        workers: Workers = None,
        on_error: OnError = "strict",
    ) -> None:
        from linker.files import check_writable
        from linker.mining.miner import PairMiner
        from linker.mining.mining import mine_pairs

        check_writable(out, archives)
        _check_outside(out, archives)
        miner = PairMiner.by_name(name)()
        filter = _filter(min_length, lang, keep_cut, texts)
        _told(lambda: mine_pairs(archives, miner, out, filter, max_pairs, _processes(workers), on_error))
        print(out)


for _name, _help in {
    "quotes": "Pair tweets with quotes of them.",
    "replies": "Pair tweets with replies to them, where the archives hold both.",
    "coquotes": "Pair two quotes of the same tweet.",
    "coreplies": "Pair two replies to the same tweet.",
}.items():
    _command(_name, _help)


@app.command()
def benchmarks(
    archives: Archives,
    out: Annotated[Path, typer.Option("--out", help="The folder to write to.")],
    train: Annotated[
        list[Path] | None,
        typer.Option(
            "--train",
            help="Training pairs, written again without the tweets of the benchmarks; repeatable.",
            show_default=False,
        ),
    ] = None,
    queries: Annotated[int, typer.Option("--queries", min=1, help="Queries of each set, at most.")] = 5000,
    positives: Annotated[int, typer.Option("--positives", min=1, help="Relevant candidates.")] = 5,
    negatives: Annotated[int, typer.Option("--negatives", min=1, help="Other candidates.")] = 25,
    min_length: MinLength = 20,
    lang: Languages = ["en"],  # noqa: B006
    keep_cut: KeepCut = False,
    texts: Texts = "cleaned",
    workers: Workers = None,
    on_error: OnError = "strict",
) -> None:
    """Build the reranking sets DQ, DR, CQ, CR, and training sets without their tweets."""
    from linker.mining.benchmarks import mine_benchmarks

    filter = _filter(min_length, lang, keep_cut, texts)
    train = train or []
    _check_folder(out, archives, train)
    numbers = (queries, positives, negatives, _processes(workers))
    _told(lambda: mine_benchmarks(archives, out, train, filter, *numbers, on_error))
    print(out)


@app.command()
def augmented(
    labels: Annotated[
        Path, typer.Argument(help="File with tweet_id, topic, class, and text.", show_default=False)
    ],
    model: Annotated[
        str,
        typer.Option("--model", help="Folder or name of a Hugging Face model with its masked-LM head."),
    ],
    out: Annotated[Path, typer.Option("--out", help="The file to write, such as augmented.jsonl.")],
    texts: Annotated[
        Path | None,
        typer.Option(
            "--texts", help="File with id and text, if the labels' file has none.", show_default=False
        ),
    ] = None,
    keep_topic: Annotated[
        list[str] | None,
        typer.Option("--keep-topic", help="Leave its texts as they are; repeatable.", show_default=False),
    ] = None,
    share: Annotated[
        float, typer.Option("--share", min=0, max=1, help="Of the words, how many are guessed anew.")
    ] = 0.1,
    seed: Annotated[int, typer.Option("--seed", help="Another seed, other words.")] = 0,
    on_error: Annotated[
        Literal["strict", "skip"],
        typer.Option("--on-error", help="Bad lines and labels without text: stop, or set them aside."),
    ] = "strict",
) -> None:
    """Write labelled texts anew with other topics' words and names, and some words guessed by a model."""
    from linker.data.readers.labelled_texts import LabelledTexts
    from linker.files import check_writable
    from linker.models.augmenting import augment
    from linker.progress import stderr

    check_writable(out, [labels, *([texts] if texts else [])])
    reader = LabelledTexts(str(labels), str(texts) if texts else None, classes=None, on_error=on_error)
    counts = augment(reader.read().posts, model, out, set(keep_topic or []), share, seed)
    stderr.print(
        f"{counts.texts:,} texts: {counts.topic_words:,} topic words and {counts.entities:,} names, hashtags and "
        f"mentions replaced, {counts.guessed:,} words guessed; {counts.kept:,} texts left as they are",
        highlight=False,
        soft_wrap=True,
    )
    print(out)


def _told(work: Callable[[], Report]) -> None:
    """Do the work, then show its report on standard error."""
    import time

    from linker.progress import stderr

    began = time.monotonic()
    report = work()
    seconds = time.monotonic() - began
    stderr.print(report.table())
    for damage in report.damaged:
        stderr.print(damage, style="yellow", highlight=False, markup=False, soft_wrap=True)
    stderr.print(f"{report.lines.total():,} lines in {seconds:.0f} s", highlight=False)


def _filter(
    min_length: int, lang: list[str], keep_cut: bool, texts: Literal["cleaned", "original"]
) -> TweetFilter:
    from linker.mining.cleaning import TweetFilter

    if "any" in lang and len(lang) > 1:
        raise LinkerError(f"--lang any goes with no other (here: {', '.join(lang)})")
    return TweetFilter(min_length, [] if lang == ["any"] else sorted(set(lang)), keep_cut, texts)


def _processes(workers: int | None) -> int:
    return workers or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else workers or 1


def _check_outside(out: Path, archives: list[Path]) -> None:
    """What is written would be read as an archive the next time."""
    for archive in archives:
        if archive.is_dir() and out.resolve().is_relative_to(archive.resolve()):
            raise LinkerError(f"{out}: lies in {archive}, among the archives; write it to another folder")


def _check_folder(out: Path, archives: list[Path], train: list[Path]) -> None:
    from linker.files import check_writable

    if out.exists() and not out.is_dir():
        raise LinkerError(f"{out}: is a file; give a folder to write to")
    _check_outside(out, archives)
    check_writable(out / "benchmarks.report.json", archives)
    names = [path.name for path in train]
    for path in train:
        if not path.is_file():
            raise LinkerError(f"{path}: there is no such file; give training pairs of `linker mine`")
        if names.count(path.name) > 1:
            raise LinkerError(f"--train: several files are called {path.name}; rename one")
        check_writable(out / "train" / path.name, [*archives, *train])
