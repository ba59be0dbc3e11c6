"""`linker annotate`: label the fewest posts that find the most relevant ones."""

from __future__ import annotations

import getpass
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from linker.cli.options import Packages, include_packages
from linker.errors import LinkerError

if TYPE_CHECKING:
    from linker.annotation.session import Session, Suggestion

app = typer.Typer(
    help="Label posts, the likely relevant ones first, and know when to stop.", no_args_is_help=True
)

Folder = Annotated[Path, typer.Argument(help="The session.", show_default=False)]
Annotator = Annotated[
    str | None,
    typer.Option("--annotator", help="Who labels.", show_default="the name you are logged in with"),
]
PostId = Annotated[str, typer.Argument(help="The post's id.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="JSON for scripts.")]
_SHORT = {"y": "relevant", "n": "not", "s": "skip"}


@app.command()
def start(
    folder: Annotated[Path, typer.Argument(help="The new folder of the session.", show_default=False)],
    article: Annotated[
        list[str],
        typer.Option(
            "--article",
            help="Address, file (HTML, text, JSON) or - (standard input); several make one query.",
        ),
    ],
    posts: Annotated[
        list[str],
        typer.Option("--posts", help="Posts: JSON lines, CSV, TSV, Parquet, text, or -; repeatable."),
    ],
    model: Annotated[str, typer.Option("--model", help="A model folder, bm25 or tfidf.")] = "bm25",
    strategy: Annotated[
        str | None,
        typer.Option(
            "--strategy",
            help="What orders the posts: NAME, NAME,KEY=VALUE,…, or a Jsonnet file.",
            show_default="learning",
        ),
    ] = None,
    stop: Annotated[
        str | None,
        typer.Option(
            "--stop",
            help="When to stop: NAME, NAME,KEY=VALUE,…, or a Jsonnet file.",
            show_default="recall",
        ),
    ] = None,
    guidelines: Annotated[
        Path | None, typer.Option("--guidelines", help="What the annotators are told: Markdown or text.")
    ] = None,
    overlap: Annotated[
        float, typer.Option("--overlap", help="The share of posts that two annotators label.")
    ] = 0.0,
    seed: Annotated[int, typer.Option("--seed", help="Of all that is drawn.", min=0)] = 13,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            help="OURS=THEIRS: what a column of the posts is called, such as text=body; repeatable.",
            show_default=False,
        ),
    ] = None,
    on_error: Annotated[
        Literal["strict", "skip"],
        typer.Option("--on-error", help="Bad lines: stop before any work, or set them aside and go on."),
    ] = "strict",
    errors_dir: Annotated[
        Path, typer.Option("--errors-dir", help="Where --on-error skip writes the bad lines.")
    ] = Path("."),
    include_package: Packages = None,
) -> None:
    """Begin a session: a folder with the articles, the posts and, from then on, every label."""
    from linker.annotation.folder import check_new
    from linker.annotation.session import RULE, STRATEGY, Session
    from linker.cli.posts import post_columns, with_option
    from linker.cli.rank import _check_files
    from linker.data.records import read_posts
    from linker.ranking.articles import load_articles
    from linker.ranking.linker import find_model

    # What can be wrong is found out before the work begins: names first, the model last.
    include_packages(include_package)
    check_new(folder)
    _check_files(article, posts, None)
    columns = post_columns(column)
    find_model(model)
    ordering, rule = _component("--strategy", strategy or STRATEGY), _component("--stop", stop or RULE)
    told = _guidelines(guidelines)
    articles = [one for source in article for one in load_articles(source)]
    for one in articles:
        _say(f"article: {one.title or one.text[:60]!r}, {len(one.full_text.split())} words")
    with with_option():
        candidates = read_posts(posts, columns, on_error, str(errors_dir))
    session = Session.create(
        folder, articles, candidates, model, ordering, rule, told, seed, overlap, background=False
    )
    copies = len(candidates) - len(session.pool)
    _say(f"{len(session.pool):,} posts to label, and {copies:,} near-duplicates of them")
    _say(f"label with `linker annotate run {folder}`, or in the browser with `linker serve {folder}`")
    print(folder)


@app.command()
def run(folder: Folder, annotator: Annotator = None, include_package: Packages = None) -> None:
    """Label in this terminal: one post after the other, a key for each."""
    from rich.console import Console

    from linker.cli.annotate_keys import Desk, Keys
    from linker.cli.annotate_screen import status_text

    keys = Keys()
    with _open(folder, include_package, stays=True) as session:
        with keys:
            Desk(session, _who(annotator), Console(highlight=False)).work(keys)
        print(status_text(session, session.status()))


@app.command("next")
def next_(
    folder: Folder,
    annotator: Annotator = None,
    count: Annotated[int, typer.Option("--count", min=1, help="How many posts.")] = 1,
    as_json: AsJson = False,
    include_package: Packages = None,
) -> None:
    """Show what to label next; the same posts until they are labelled."""
    from rich.console import Console

    from linker.cli.annotate_screen import suggestion_text

    with _open(folder, include_package) as session:
        suggestions = session.next(_who(annotator), count)
    console = Console(highlight=False)
    for number, suggestion in enumerate(suggestions):
        if as_json:
            print(json.dumps(_record(suggestion), ensure_ascii=False, default=str))
            continue
        if number:
            print()
        console.print(suggestion_text(suggestion, console.is_terminal), soft_wrap=not console.is_terminal)
    if not suggestions:
        _say("nothing is left to label, or the rest lies before other annotators")


@app.command()
def label(
    folder: Folder,
    post: PostId,
    value: Annotated[
        str, typer.Argument(help="relevant, not or skip; y, n, s for short.", show_default=False)
    ],
    annotator: Annotator = None,
    note: Annotated[str | None, typer.Option("--note", help="What to remember of this post.")] = None,
    resolve: Annotated[
        bool, typer.Option("--resolve", help="This is what holds, whatever the annotators said.")
    ] = False,
    include_package: Packages = None,
) -> None:
    """Label a post. When the command ends, the label is on the disk."""
    said: Any = _SHORT.get(value, value)
    with _open(folder, include_package) as session:
        if resolve:
            session.resolve(_who(annotator), post, said)
            if note:
                session.note(_who(annotator), post, note)
        else:
            session.label(_who(annotator), post, said, note)
    print(f"{post}: {said}")


@app.command()
def undo(folder: Folder, annotator: Annotator = None, include_package: Packages = None) -> None:
    """Take back your last label; repeat for those before."""
    with _open(folder, include_package) as session:
        post = session.undo(_who(annotator))
    if post is None:
        raise LinkerError(f"{folder}: {_who(annotator)} has no label to take back")
    print(post)


@app.command()
def status(folder: Folder, as_json: AsJson = False, include_package: Packages = None) -> None:
    """Show how far a session is, how many relevant posts may be left, and whether to stop."""
    from dataclasses import asdict

    from linker.cli.annotate_screen import status_text

    with _open(folder, include_package) as session:
        now = session.status()
        print(json.dumps(asdict(now), ensure_ascii=False) if as_json else status_text(session, now))


@app.command()
def agreement(folder: Folder, as_json: AsJson = False, include_package: Packages = None) -> None:
    """Show how far annotators agree (Cohen's κ, Krippendorff's α), and where they do not."""
    from linker.cli.annotate_screen import agreement_record, agreement_text

    with _open(folder, include_package) as session:
        now = session.agreement()
        print(
            json.dumps(agreement_record(now), ensure_ascii=False) if as_json else agreement_text(session, now)
        )


def _open(folder: Path, packages: list[str] | None, stays: bool = False) -> Session:
    from linker.annotation.session import Session

    include_packages(packages)
    return Session.open(folder, background=stays)


def _record(suggestion: Suggestion) -> dict[str, Any]:
    post = suggestion.post
    return {
        "id": post.id,
        "text": post.text,
        "created_at": post.created_at.isoformat() if post.created_at else None,
        "score": suggestion.score,
        "position": suggestion.position,
        "at_random": suggestion.at_random,
        "copies": suggestion.copies,
        "marks": suggestion.marks,
        "article_words": suggestion.article_words,
        "note": suggestion.note,
        "extra": post.extra,
    }


def _component(option: str, given: str) -> Any:
    """`recall,target=0.9` as {type: "recall", target: 0.9}; a Jsonnet file as what it says."""
    from linker.config import load_config

    if Path(given).suffix in (".jsonnet", ".json"):
        return load_config(given)
    name, *pairs = given.split(",")
    config: dict[str, Any] = {"type": name}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise LinkerError(f"{option} {given}: expected NAME,KEY=VALUE, such as recall,target=0.9")
        try:
            config[key] = json.loads(value)
        except ValueError:
            config[key] = value
    return config


def _guidelines(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise LinkerError(f"{path}: is not UTF-8 text; guidelines are Markdown or text") from error
    except OSError as error:
        raise LinkerError(f"{path}: cannot be read ({error.strerror})") from error


def _who(annotator: str | None) -> str:
    if annotator is not None:
        return annotator
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        raise LinkerError("this machine does not tell your name; give --annotator NAME") from None


def _say(message: str) -> None:
    print(message, file=sys.stderr)
