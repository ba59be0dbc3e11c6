"""The folder of a session: files that are written once, when the session is created."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import csr_matrix

from linker.annotation.pool import Pool
from linker.annotation.session.label_set import label_set_problem
from linker.common.errors import DataError, LinkerError
from linker.common.files import atomic_write, check_regular_files, read_json_object, write_json
from linker.data.types import Article, Post
from linker.models.score_scale import ScoreScale
from linker.ranking.explanation import Explanation
from linker.version import __version__

SETTINGS, ARTICLES, POSTS = "session.json", "articles.jsonl", "posts.jsonl"
POOL, WORDS, JOURNAL, ORDER = "pool.npz", "explanations.jsonl", "journal.jsonl", "order.npz"
FORMAT = 1
_SCALE = "scale"

T = TypeVar("T")


@dataclass(frozen=True)
class Settings:
    """Settings of a session.

    Attributes:
        model: name of the model that scored the posts.
        strategy: config of the query strategy.
        rule: config of the stopping rule.
        overlap: share of posts that several annotators label.
        seed: random seed.
        guidelines: instructions for the annotators.
        created: time of creation, ISO 8601.
        labels_per_post: number of annotators who label a post of the overlap; 2 in sessions of earlier versions.
        question: what annotators answer about each post.
        labels: the label set, as `name` and `value`; empty: relevant, not relevant, skip.
    """

    model: str
    strategy: dict[str, Any]
    rule: dict[str, Any]
    overlap: float
    seed: int
    guidelines: str
    created: str
    labels_per_post: int = 2
    question: str = ""
    labels: list[dict[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class SessionData:
    """Data of a session.

    Attributes:
        settings: its settings.
        pool: the distinct posts.
        posts: all posts, near-duplicates included, in the order of the input.
        places: post id → index in the pool.
    """

    settings: Settings
    pool: Pool
    posts: list[Post]
    places: dict[str, int]


def is_session(folder: Path) -> bool:
    """Return whether the folder holds a session, complete or not."""
    return any((folder / name).exists() for name in (SETTINGS, JOURNAL, POOL))


def check_new(folder: Path) -> None:
    """Check that a session can be created here; files of an interrupted creation do not count.

    Raises:
        LinkerError: if the folder holds a session, or anything else.
    """
    if (folder / SETTINGS).exists():
        raise LinkerError(f"{folder}: already holds a session; open it, or choose another folder")
    if folder.exists() and not folder.is_dir():
        raise LinkerError(f"{folder}: is a file; give a folder")
    ours = {ARTICLES, POSTS, POOL, WORDS, JOURNAL, ORDER}
    others = [p.name for p in folder.iterdir() if p.name not in ours] if folder.is_dir() else []
    if others := [
        name for name in others if not any(name.startswith(f".{our}.") for our in (*ours, SETTINGS))
    ]:
        raise LinkerError(f"{folder}: is not empty ({others[0]}); choose a new folder")
    journal = folder / JOURNAL
    if journal.exists() and journal.stat().st_size:
        raise LinkerError(f"{folder}: holds labels but no {SETTINGS}; put that back, or choose a new folder")


def write_session(
    folder: Path,
    settings: Settings,
    pool: Pool,
    posts: Sequence[Post],
    explanations: list[Explanation] | None,
) -> None:
    """Write the files of a session; `session.json` comes last, so a folder that has it is complete.

    Raises:
        LinkerError: if a file cannot be written.
    """
    article_lines = [_line(asdict(article)) for article in pool.articles]
    post_lines = [_line(asdict(post)) for post in posts]
    _write_lines(folder / ARTICLES, article_lines)
    _write_lines(folder / POSTS, post_lines)
    _write_lines(folder / WORDS, [_line(_words(explanation)) for explanation in explanations or []])
    number = {post.id: i for i, post in enumerate(posts)}
    groups = np.empty(len(posts), dtype=np.int64)
    for place, (post, copies) in enumerate(zip(pool.posts, pool.copies)):
        groups[[number[member.id] for member in (post, *copies)]] = place
    arrays = {
        "article_lines": _checksums(article_lines),
        "post_lines": _checksums(post_lines),
        "representatives": np.array([number[post.id] for post in pool.posts], dtype=np.int64),
        "groups": groups,
        "scores": pool.scores,
        "lexical_scores": pool.lexical_scores,
        _SCALE: np.array(json.dumps(pool.scale.as_json())),
        **_sparse("words", pool.words),
        **_sparse("article_words", pool.article_words),
    }
    if pool.vectors is not None and pool.article_vectors is not None:
        arrays |= {"vectors": pool.vectors, "article_vectors": pool.article_vectors}
    with atomic_write(folder / POOL, "wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]
    write_json(folder / SETTINGS, {"format": FORMAT, "linker_version": __version__, **asdict(settings)})


def read_session(folder: Path) -> SessionData:
    """Read what `write_session` wrote.

    Raises:
        DataError: if the session is not found, or it is incomplete, damaged, changed, or of a newer version.
    """
    settings = read_settings(folder)
    arrays = _read_arrays(folder / POOL)
    articles = _read_lines(folder / ARTICLES, arrays["article_lines"], _article)
    posts = _read_lines(folder / POSTS, arrays["post_lines"], _post)
    groups, representatives = arrays["groups"], arrays["representatives"]
    copies: list[list[Post]] = [[] for _ in representatives]
    for i in np.setdiff1d(np.arange(len(posts)), representatives, assume_unique=True):
        copies[groups[i]].append(posts[i])
    pool = Pool(
        articles,
        [posts[i] for i in representatives],
        [tuple(some) for some in copies],
        arrays["scores"],
        arrays["lexical_scores"],
        _matrix("words", arrays),
        _matrix("article_words", arrays),
        arrays.get("vectors"),
        arrays.get("article_vectors"),
        scale=_scale(folder, settings, arrays),
    )
    return SessionData(settings, pool, posts, dict(zip((post.id for post in posts), groups.tolist())))


class Explanations:
    """The explanations of the posts of a pool, one per line of a file, each parsed when it is asked for.

    Args:
        folder: the session.
        count: number of posts in the pool.

    Raises:
        DataError: if the file cannot be read, or has a number of lines other than `count` or none.
    """

    def __init__(self, folder: Path, count: int) -> None:
        self._path = folder / WORDS
        try:
            self._lines = self._path.read_bytes().split(b"\n")[:-1]
        except OSError as error:
            raise DataError(f"{self._path}: cannot be read ({error.strerror})") from error
        if len(self._lines) not in (0, count):
            raise DataError(
                f"{self._path}: has {len(self._lines):,} lines for {count:,} posts; put back a copy of it"
            )

    def of(self, place: int) -> Explanation | None:
        """Return the explanation of a post, by its index in the pool; None if the model cannot explain.

        Raises:
            DataError: if its line is damaged.
        """
        if not self._lines:
            return None
        try:
            article_words, post_words, spans = json.loads(self._lines[place])
            return Explanation(
                [(_is(word, str), _is(weight, float, int)) for word, weight in article_words],
                [(_is(word, str), _is(weight, float, int)) for word, weight in post_words],
                [(_is(start, int), _is(end, int)) for start, end in spans],
            )
        except (ValueError, TypeError, RecursionError) as error:
            raise DataError(
                f"{self._path}, line {place + 1}: damaged ({error}); put back a copy of it"
            ) from error


def _is(value: Any, *kinds: type) -> Any:
    if not isinstance(value, kinds) or value != value or isinstance(value, bool):
        raise TypeError(f"unexpected value {str(value)[:40]!r}")
    return value


def _words(explanation: Explanation) -> list[Any]:
    article_words = [(word, float(f"{weight:.4g}")) for word, weight in explanation.article_words]
    post_words = [(word, float(f"{weight:.4g}")) for word, weight in explanation.post_words]
    return [article_words, post_words, explanation.post_spans]


def read_settings(folder: Path) -> Settings:
    """Read the settings of a session.

    Raises:
        DataError: if the session is not found, incomplete or of a newer version.
    """
    path = folder / SETTINGS
    if not folder.is_dir():
        raise DataError(
            f"{folder}: session not found; create one with `linker annotate start {folder} --article ARTICLE "
            "--posts POSTS`"
        )
    check_regular_files(folder)
    if not path.is_file():
        problem = (
            "its creation was interrupted; create it again" if is_session(folder) else f"it has no {SETTINGS}"
        )
        raise DataError(f"{folder}: not a session, {problem}")
    values = read_json_object(path)
    if not isinstance(values.get("format"), int):
        raise DataError(f"{path}: not the settings of a session")
    if values["format"] > FORMAT:
        raise DataError(
            f"{folder}: written by linker {values.get('linker_version')} in a newer format; this is linker "
            f"{__version__}: upgrade it"
        )
    required = [one.name for one in fields(Settings) if one.default is one.default_factory is MISSING]
    if missing := [name for name in required if name not in values]:
        raise DataError(f"{path}: {', '.join(map(repr, missing))} is missing; put back a copy of it")
    settings = Settings(**{one.name: values[one.name] for one in fields(Settings) if one.name in values})
    problems = [f"{name} is not {expected}" for name, expected, fits in _checks(settings) if not fits]
    if problems:
        raise DataError(f"{path}: {'; '.join(problems)}; put back a copy of it")
    return settings


def _checks(settings: Settings) -> list[tuple[str, str, bool]]:
    """Return the settings, what each of them is, and whether it is that."""
    overlap, seed, several = settings.overlap, settings.seed, settings.labels_per_post
    numbers = isinstance(overlap, (int, float)) and not isinstance(overlap, bool)
    return [
        *(
            (name, "a string", isinstance(getattr(settings, name), str))
            for name in ("model", "guidelines", "created", "question")
        ),
        *((name, "a component", isinstance(getattr(settings, name), dict)) for name in ("strategy", "rule")),
        ("overlap", "a share from 0 to 1", numbers and 0 <= overlap <= 1),
        ("seed", "a whole number from 0", isinstance(seed, int) and not isinstance(seed, bool) and seed >= 0),
        ("labels_per_post", "a whole number from 2", type(several) is int and several >= 2),
        (
            "labels",
            "a label set",
            isinstance(settings.labels, list) and label_set_problem(settings.labels) is None,
        ),
    ]


def _read_arrays(path: Path) -> dict[str, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except Exception as error:  # damage causes many kinds of errors
        raise DataError(f"{path}: damaged or missing ({error}); put back a copy of it") from error


def _scale(folder: Path, settings: Settings, arrays: dict[str, np.ndarray]) -> ScoreScale:
    """Return the scale of the pool's scores; sessions of earlier versions have that of their model, if it is found."""
    if _SCALE in arrays:
        try:
            return ScoreScale.from_json(json.loads(str(arrays[_SCALE])))
        except (ValueError, DataError) as error:
            raise DataError(f"{folder / POOL}: damaged ({error}); put back a copy of it") from error
    from linker.models.resolve import resolve_model  # imports what only these sessions need

    try:
        return resolve_model(settings.model, connect=False).score_scale()
    except LinkerError:
        return ScoreScale("similarity" if np.abs(arrays["scores"]).max() <= 1 else "any")


def _line(values: dict[str, Any] | list[Any]) -> bytes:
    text = json.dumps(values, ensure_ascii=False, default=_jsonable, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass") + b"\n"


def _jsonable(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _write_lines(path: Path, lines: Iterable[bytes]) -> None:
    with atomic_write(path, "wb") as file:
        file.writelines(lines)


def _checksums(lines: Sequence[bytes]) -> np.ndarray:
    return np.array([zlib.crc32(line) for line in lines], dtype=np.uint32)


def _read_lines(path: Path, sums: np.ndarray, record: Callable[[dict[str, Any]], T]) -> list[T]:
    """Return the records of lines, checked against their checksums."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); put back a copy of it") from error
    if lines[-1] == b"":
        lines.pop()
    found = _checksums([line + b"\n" for line in lines])
    shared = min(len(found), len(sums))
    differing = np.flatnonzero(found[:shared] != sums[:shared])
    if len(differing) or len(found) != len(sums):
        number = int(differing[0]) + 1 if len(differing) else shared + 1
        raise DataError(
            f"{path}, line {number}: was changed since the session was created, and labels belong to the original "
            "posts; put back a copy, or create a new session and import the labels there"
        )
    return [record(json.loads(line)) for line in lines]


def _article(values: dict[str, Any]) -> Article:
    return Article(**{**values, "published": _time(values["published"])})


def _post(values: dict[str, Any]) -> Post:
    return Post(
        values["id"],
        values["text"],
        tuple(values["article_ids"]),
        _time(values["created_at"]),
        values["split"],
        values["extra"],
        values.get("source", ""),  # absent in sessions of earlier versions
    )


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _sparse(name: str, matrix: csr_matrix) -> dict[str, np.ndarray]:
    return {
        f"{name}.data": matrix.data,
        f"{name}.indices": matrix.indices,
        f"{name}.indptr": matrix.indptr,
        f"{name}.shape": np.array(matrix.shape, dtype=np.int64),
    }


def _matrix(name: str, arrays: dict[str, np.ndarray]) -> csr_matrix:
    parts = (arrays[f"{name}.data"], arrays[f"{name}.indices"], arrays[f"{name}.indptr"])
    return csr_matrix(parts, shape=tuple(arrays[f"{name}.shape"]))
