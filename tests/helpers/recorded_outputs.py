"""Outputs of commands for 40 articles of the sample, recorded so that every change of them is seen.

`scripts/record_outputs.py` records and compares all of them, `tests/test_recorded_outputs.py` compares them. A
recording is a file of JSON lines, one per output, packed with xz: `xzcat tests/recorded/best.jsonl.xz | less`.
"""

import csv
import functools
import io
import json
import lzma
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from typer.main import get_command

from linker.cli.main import app
from linker.common.errors import LinkerError
from linker.data.vocabulary import EncodedText
from linker.evaluation import comparison
from linker.models.files.resolve import ModelReference
from linker.models.onnx.transformer import OnnxTransformerModel

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "recorded"
MODELS = ("best", "distilled", "bm25")
#: What belongs to no article: commands that take all of them.
ALL = "all articles"
#: Points of 100, more than processors round differently (scripts/quality_floor.py); below 1, a tenth of it.
TOLERANCE = 0.02
#: Of each output, the rows that are kept with all their fields; of the others, ids and scores are kept.
WHOLE_ROWS = 4
#: Fields with the time of the recording, or with where it was made.
_PASSING = ("time", "linker_version", "fingerprint")

Row = dict[str, Any]


@dataclass(frozen=True)
class Output:
    """What one command wrote.

    Attributes:
        article: id of the article, or `ALL`.
        command: name of the command in this recording.
        content: what it wrote: rows, see `_of_rows`, a JSON object, or the message of an error.
    """

    article: str
    command: str
    content: Any


def stories() -> dict[str, list[Row]]:
    """Return the 40 articles by story: two of each of the sample's 16, three of the first eight."""
    found: dict[str, list[Row]] = {}
    for article in _read(ROOT / "data" / "articles.jsonl"):
        story, number = article["id"].split("-")
        if number in ("a1", "a5") or (number == "a3" and story <= "s08"):
            found.setdefault(story, []).append(article)
    return found


def outputs(model: str, count: int | None = None) -> Iterator[Output]:
    """Run all commands in the current folder, which is empty, and yield what they write.

    Args:
        model: name of the model.
        count: number of articles, of different stories; None: all 40.
    """
    articles = [article for of_story in stories().values() for article in of_story]
    if count is not None:
        articles = [of_story[0] for of_story in stories().values()][:count]
    posts = _read(ROOT / "data" / "posts.jsonl")
    with _loaded_once():
        yield from _of_all(model, posts)
        for article in articles:
            yield from _of_article(model, article, posts)


def _of_all(model: str, posts: list[Row]) -> Iterator[Output]:
    """Yield the outputs that do not depend on the articles chosen; leave `corpus` and `calibration.json` behind."""
    articles = [article for of_story in stories().values() for article in of_story]
    ids = {article["id"] for article in articles}
    _write("articles.jsonl", articles)
    _write("all.jsonl", (post for post in posts if post.get("article_id") in {None, *ids}))
    given = ("--articles", "articles.jsonl", "--posts", "all.jsonl")
    for name, options in (
        ("evaluate", ()),
        ("evaluate alone", ("--one-at-a-time",)),
        ("evaluate without dates", ("--ignore-dates",)),
    ):
        found = _run("evaluate", "--model", model, *given, *options, "--json", "evaluation.json") or _json(
            "evaluation.json"
        )
        keys = ("articles", "posts", "relevant_pairs", "error")
        kept: dict[str, Any] = {key: found[key] for key in keys if key in found}
        if "models" in found:
            kept |= {"metrics": found["models"][model], "by article": found["per_article"][model]}
        yield Output(ALL, name, kept)
    fitted = _run("calibrate", "--model", model, *given, "--out", "calibration.json")
    yield Output(ALL, "calibrate", fitted or _json("calibration.json"))
    if model != "bm25":  # a corpus holds embeddings, of which BM25 has none
        _write("pool.jsonl", [*posts, *_copies(posts)])
        failed = _run("corpus", "build", "pool.jsonl", "--model", model, "--out", "corpus")
        assert not failed, failed


def _of_article(model: str, article: Row, posts: list[Row]) -> Iterator[Output]:
    """Yield the outputs of one article, which begin with its story's posts and a part of the others."""
    story = article["id"].split("-")[0]
    pool = [
        post
        for number, post in enumerate(posts)
        if post["id"].startswith(f"{story}-") or number % 17 == int(story[1:]) % 17
    ]
    pool += _copies(pool)
    Path("article.json").write_text(json.dumps(article), encoding="utf-8")
    _write("posts.jsonl", pool)
    pd.DataFrame([_without_id(post) for post in pool]).to_csv("collected.csv", index=False)
    labels = [
        {"id": post["id"], "label": "relevant" if post.get("article_id") == article["id"] else "not"}
        for post in pool[::3]
    ]
    pd.DataFrame(labels).to_csv("labels.csv", index=False)
    day = datetime.fromisoformat(article["published"].replace("Z", "+00:00")).date()
    period = ("--since", str(day), "--until", str(day + timedelta(days=3)))
    given = ("--article", "article.json", "--posts", "posts.jsonl", "--model", model)
    without_ids = ("--article", "article.json", "--posts", "collected.csv", "--model", model)
    search = ("corpus", "search", "corpus", "--article", "article.json", "--top", "60")
    for name, command in (
        ("rank", ("rank", *given)),
        ("rank, explained, with copies", ("rank", *given, "--explain", "--copies")),
        ("rank with labels", ("rank", *given, "--labels", "labels.csv")),
        ("rank without dates", ("rank", *given, "--ignore-dates")),
        ("rank, filtered", ("rank", *given, *period, "--lang", "en")),
        ("rank with calibration", ("rank", *given, "--calibration", "calibration.json")),
        ("rank posts without ids", ("rank", *without_ids, "--copies", "--lang", "de", "--lang", "en")),
        ("search", search),
        ("search, explained, with copies", (*search, "--explain", "--copies")),
        ("search with labels", (*search, "--labels", "labels.csv")),
        ("search without dates, filtered", (*search, "--ignore-dates", *period, "--lang", "en")),
    ):
        if command[0] == "corpus" and not Path("corpus").exists():
            continue
        failed = _run(*command, "--out", "ranked.jsonl")
        yield Output(article["id"], name, failed or _of_rows(_read(Path("ranked.jsonl"))))
    yield from _of_session(article["id"], given, labels)


def _of_session(article: str, given: tuple[str, ...], labels: list[Row]) -> Iterator[Output]:
    """Yield the exports of a session with labels of two people."""
    folder = f"session-{article}"
    _write(
        "labels.jsonl",
        (
            {"post_id": row["id"], "label": row["label"], "annotator": who}
            for number, row in enumerate(labels)
            for who in ("ann", "bo")[: 1 + (number % 4 == 0)]
        ),
    )
    for command in (("start", folder, *given), ("import", folder, "labels.jsonl")):
        failed = _run("annotate", *command)
        assert not failed, failed
    yield Output(article, "annotate export", _exported(folder, "all.export.jsonl"))
    yield Output(article, "annotate export, resolved", _exported(folder, "one.export.csv", "--resolved"))


def _exported(folder: str, name: str, *options: str) -> Any:
    failed = _run("annotate", "export", folder, "--out", name, *options)
    if failed:
        return failed
    if name.endswith(".jsonl"):
        return _of_rows(_read(Path(name)))
    with open(name, encoding="utf-8-sig", newline="") as file:
        return _of_rows(list(csv.DictReader(file)))


def _run(*arguments: str) -> Row | None:
    """Run a command in this process; return its error, or None."""
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            _command()(arguments, standalone_mode=False)
    except LinkerError as error:
        return {"error": str(error)}
    return None


@functools.cache
def _command() -> Any:
    return get_command(app)


def _of_rows(rows: list[Row]) -> Row:
    """Return the ids and scores of all rows, and the first rows and all labels with every field."""
    key = "post_id" if rows and "post_id" in rows[0] else "id"
    kept = [row for number, row in enumerate(rows) if number < WHOLE_ROWS or row.get("label")]
    names = ["/".join(str(row[part]) for part in (key, "annotator") if row.get(part)) for row in kept]
    return {
        "rows": len(rows),
        "scores": {str(row[key]): _rounded(row.get("score")) for row in rows},
        # Near-equal scores may be in another order on another processor.
        "fields": {name: _rounded({**row, "rank": None}) for name, row in zip(names, kept)},
    }


def _rounded(value: Any) -> Any:
    """Return the value with numbers of four digits after the point or four in all, without passing fields."""
    if isinstance(value, dict):
        return {
            key: _rounded(item) for key, item in value.items() if key not in _PASSING and item is not None
        }
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    if isinstance(value, str):
        try:
            return _rounded(float(value)) if "." in value else value
        except ValueError:
            return value
    if isinstance(value, float) and math.isfinite(value):
        return round(value, 3) if abs(value) > 1 else float(f"{value:.3g}")
    return value


@contextmanager
def _loaded_once() -> Iterator[None]:
    """Load and fingerprint each model once, and embed each text once, as one process per command would not."""
    load = functools.cache(ModelReference.load)
    fingerprint = functools.cache(vars(ModelReference)["fingerprint"].fget)
    embed, known = OnnxTransformerModel._embedded, dict[tuple[str, bytes], np.ndarray]()

    # An embedding does not depend on the texts that are encoded with it (decision 168).
    def look_up(model: OnnxTransformerModel, texts: Sequence[EncodedText]) -> np.ndarray:
        keys = [(str(model._folder), text.ids.tobytes()) for text in texts]
        new = {key: text for key, text in zip(keys, texts) if key not in known}
        known.update(zip(new, embed(model, list(new.values()))))
        return np.array([known[key] for key in keys])

    with (
        mock.patch.object(OnnxTransformerModel, "_embedded", look_up),
        mock.patch.object(comparison, "RESAMPLES", 9),  # of differences, which are not recorded
        mock.patch.object(ModelReference, "load", lambda self: load(self)),
        mock.patch.object(ModelReference, "fingerprint", property(lambda self: fingerprint(self))),
        mock.patch.dict(os.environ, {"USER": "ann", "LOGNAME": "ann"}),
    ):
        yield


def _copies(posts: list[Row]) -> list[Row]:
    """Return near-duplicates of every 20th post, a day later and without a language."""
    return [
        {"id": f"{post['id']}-copy", "text": f"RT @wire: {post['text']}", "created_at": _next_day(post)}
        for post in posts[::20]
    ]


def _next_day(post: Row) -> str:
    return str(datetime.fromisoformat(post["created_at"].replace("Z", "+00:00")) + timedelta(days=1))


def _without_id(post: Row) -> Row:
    return {"Text": post["text"], "Date": post["created_at"], "Language": post.get("lang", "")}


def _read(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _json(name: str) -> Row:
    found: Row = _rounded(json.loads(Path(name).read_text(encoding="utf-8")))
    return found


def _write(name: str, rows: Iterable[Row]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def recorded(model: str) -> dict[tuple[str, str], Any]:
    """Return the recorded outputs of a model by article and command."""
    with lzma.open(FOLDER / f"{model}.jsonl.xz", "rt", encoding="utf-8") as file:
        return {(line["article"], line["command"]): line["content"] for line in map(json.loads, file)}


def record(model: str, found: Iterable[Output]) -> None:
    """Write the outputs of a model."""
    with lzma.open(FOLDER / f"{model}.jsonl.xz", "wt", encoding="utf-8", preset=9) as file:
        for output in found:
            file.write(json.dumps(vars(output), ensure_ascii=False) + "\n")


@dataclass(frozen=True)
class Difference:
    """A difference from the recording.

    Attributes:
        model: name of the model.
        article: id of the article, or `ALL`.
        command: name of the command.
        place: where in the output: the post and the field.
        old: the recorded value; None: there was none.
        new: the value now.
    """

    model: str
    article: str
    command: str
    place: tuple[str, ...]
    old: Any
    new: Any

    @property
    def kind(self) -> str:
        """The place without its post."""
        part, *rest = self.place or ("whole",)
        return f"fields {rest[1]}" if part == "fields" else part

    def __str__(self) -> str:
        return (
            f"{self.model}, {self.article}, {self.command}: {' > '.join(self.place)}: "
            f"was {_short(self.old)}, is {_short(self.new)}"
        )


def _short(value: Any) -> str:
    text = "absent" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:117]}..."


def differences(model: str, found: Iterable[Output]) -> list[Difference]:
    """Compare outputs with the recording; a value is the same if it differs by rounding only."""
    old = recorded(model)
    return [
        Difference(model, output.article, output.command, place, *values)
        for output in found
        for place, *values in _differing(old.get((output.article, output.command)), output.content)
    ]


def _differing(old: Any, new: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(old, dict) and isinstance(new, dict):
        names = new if place == ("fields",) else {**old, **new}
        # Which rows are the first may differ by rounding: the common ones are compared; `scores` has all posts.
        for name in names:
            if place != ("fields",) or name in old:
                yield from _differing(old.get(name), new.get(name), (*place, name))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, pair in enumerate(zip(old, new)):
            yield from _differing(*pair, (*place, str(number)))
    elif not _same(old, new):
        yield place, old, new


def _same(old: Any, new: Any) -> bool:
    if isinstance(old, int | float) and isinstance(new, int | float) and not isinstance(old, bool):
        return math.isclose(old, new, abs_tol=TOLERANCE if abs(old) > 1 else 0.002, rel_tol=0.002)
    return bool(old == new)
