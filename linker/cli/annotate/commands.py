"""`linker annotate`: find most of the relevant posts with few labels."""

from __future__ import annotations

import getpass
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from linker.cli.annotate.simulate import simulate
from linker.cli.annotate.start import start
from linker.cli.command import App
from linker.cli.status import say
from linker.common.errors import LinkerError

if TYPE_CHECKING:
    from linker.annotation.session.assignment import Suggestion
    from linker.annotation.session.session import Session

app = App(
    help="Label posts, most likely relevant first, with a rule that says when to stop.", no_args_is_help=True
)

Folder = Annotated[Path, typer.Argument(help="Folder of the session.", show_default=False)]
Annotator = Annotated[
    str | None, typer.Option("--annotator", help="Name of the annotator.", show_default="your login name")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
_ENDINGS = {".csv": "csv", ".jsonl": "jsonl", ".xlsx": "xlsx", ".asreview": "asreview"}
_SHORT = {"r": "relevant", "n": "not", "s": "skip"}


app.command("start")(start)


@app.command()
def run(folder: Folder, annotator: Annotator = None) -> None:
    """Label posts one by one in this terminal, with single keys."""
    from rich.console import Console

    from linker.cli.annotate.terminal import AnnotationLoop, Keys, status_text

    keys = Keys()
    with _open(folder) as session:
        with keys:
            AnnotationLoop(session, _who(annotator), Console(highlight=False)).work(keys)
        print(status_text(session, session.status()))


@app.command("next")
def next_(
    folder: Folder,
    annotator: Annotator = None,
    count: Annotated[int, typer.Option(min=1, help="Number of posts to show.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Show the next posts to label; the same ones until they are labeled."""
    from rich.console import Console

    from linker.cli.annotate.terminal import suggestion_text

    with _open(folder) as session:
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
        say("no posts left to label, or the rest is assigned to other annotators")


@app.command()
def label(
    folder: Folder,
    post: Annotated[str, typer.Argument(help="Id of the post.")],
    value: Annotated[
        str,
        typer.Argument(
            help="Label of the post: relevant, not or skip; r, n or s for short; or a name of the session's label set."
        ),
    ],
    annotator: Annotator = None,
    note: Annotated[str | None, typer.Option(help="Note to store with the label.")] = None,
    answer: Annotated[
        list[str] | None, typer.Option(metavar="KEY=ANSWER", help="Answer to a further question; repeatable.")
    ] = None,
    resolve: Annotated[
        bool,
        typer.Option("--resolve", help="Record this as the adjudicated label, overriding the annotators."),
    ] = False,
) -> None:
    """Label a post; the label is on disk when the command returns."""
    from linker.annotation.session.events import Event, Kind

    label_value: Any = _SHORT.get(value, value)
    choice, answers = None, dict(pair.partition("=")[::2] for pair in answer or ()) or None
    with _open(folder) as session:
        if value in session.label_set.values:
            label_value = session.label_set.values[value]
            choice = value if session.label_set.named else None
        kind: Kind = "resolve" if resolve else "label"
        noted = None if resolve else note
        session.act(Event(kind, _who(annotator), post, label_value, noted, choice=choice, answers=answers))
        if resolve and note:
            session.note(_who(annotator), post, note)
    print(f"{post}: {label_value}")


@app.command()
def undo(folder: Folder, annotator: Annotator = None) -> None:
    """Take back your last label; repeat to take back earlier ones."""
    with _open(folder) as session:
        post = session.undo(_who(annotator))
    if post is None:
        raise LinkerError(f"{folder}: {_who(annotator)} has no label to take back")
    print(post)


@app.command()
def status(folder: Folder, as_json: AsJson = False) -> None:
    """Show the labels so far, an estimate of the relevant posts left, and whether to stop."""
    from dataclasses import asdict

    from linker.cli.annotate.terminal import status_text

    with _open(folder) as session:
        now = session.status()
        print(json.dumps(asdict(now), ensure_ascii=False) if as_json else status_text(session, now))


@app.command()
def export(
    folder: Folder,
    out: Annotated[Path, typer.Option(help="File for the labels.")],
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="Format of the file: csv, xlsx, jsonl, asreview, label_studio, argilla, doccano or prodigy.",
            show_default="by the file's extension, .csv, .xlsx, .jsonl or .asreview",
        ),
    ] = None,
    resolved: Annotated[
        bool,
        typer.Option(
            "--resolved",
            help="Write one label per post (adjudicated, or the majority), not one per annotator.",
        ),
    ] = False,
) -> None:
    """Write posts and labels to a file, for other programs or another session."""
    from linker.annotation.formats import write
    from linker.annotation.formats.label_format import LabelFormat, summary_of
    from linker.common.files import check_writable

    name = _format(out, format_)
    written = LabelFormat.by_name(name)
    check_writable(out, [path for path in folder.glob("*") if path.is_file()])
    with _open(folder) as session:
        one_per_post = resolved or written.one_per_post
        records = session.labeled(one_per_post, written.marks_machines)
        for path in write(out, name, records, session.guidelines, session.codebook.questions):
            print(path)
        lost = [] if one_per_post or written.marks_machines else session.labeled(machines=True)
    say(summary_of(records))
    if left_out := sum(post.adjudicated or post.machine for post in lost):
        say(
            f"{left_out:,} adjudicated or machine labels left out, which {name} cannot tell from those of annotators; "
            "--resolved writes one label per post, the adjudicated one where there is one"
        )


@app.command("import")
def import_(
    folder: Folder,
    file: Annotated[Path, typer.Argument(help="File with the labels.")],
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="Tool that wrote the file: label_studio, argilla, doccano, prodigy, asreview, or csv.",
            show_default="recognized by its content",
        ),
    ] = None,
    annotator: Annotated[
        str | None, typer.Option(help="Annotator of labels for which the file names none.")
    ] = None,
    machine: Annotated[
        bool,
        typer.Option("--machine", help="Import as machine labels: compared with people's, never counted."),
    ] = False,
) -> None:
    """Import labels from a file, all or none; labels that the session already has are skipped."""
    from linker.annotation.formats import read

    with _open(folder) as session:
        labels = read(file, format_, session.label_set.meanings).by(annotator)
        say(labels.summary)
        imported = session.import_labels(labels.labels, annotator, str(file), machine)
    left_out = f"; left out: {imported.left_out}" if imported.left_out else ""
    print(f"{len(labels.labels):,} labels read, {imported.new:,} of them new{left_out}")


@app.command()
def agreement(folder: Folder, as_json: AsJson = False) -> None:
    """Show agreement between people (Cohen's κ, Krippendorff's α), of machines with people, and disagreements."""
    from linker.cli.annotate.terminal import agreement_record, agreement_text

    with _open(folder) as session:
        review = session.review()
    record = json.dumps(agreement_record(review), ensure_ascii=False) if as_json else agreement_text(review)
    print(record)


def _open(folder: Path) -> Session:
    from linker.annotation.session.session import Session

    return Session.open(folder)


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


def _format(file: Path, named: str | None) -> str:
    from linker.annotation.formats.label_format import LabelFormat

    if name := named or _ENDINGS.get(file.suffix.lower()):
        return name
    raise LinkerError(f"{file}: unknown ending; give --format {', '.join(LabelFormat.available())}")


def _who(annotator: str | None) -> str:
    if annotator is not None:
        return annotator
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        raise LinkerError("login name not found; give --annotator NAME") from None


app.command("simulate")(simulate)
