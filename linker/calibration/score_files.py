"""Score matrices as .npz files that any numpy reads without unpickling anything."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from linker.common.errors import DataError
from linker.common.files import atomic_write


class ScoreFile(NamedTuple):
    """Scores of all pairs; `scores` is float32, articles × posts, in the order of the ids."""

    scores: np.ndarray
    article_ids: list[str]
    post_ids: list[str]


def write_scores(
    path: str | Path, scores: np.ndarray, article_ids: Sequence[str], post_ids: Sequence[str]
) -> None:
    """Write the arrays `scores` (float32), `article_ids` and `post_ids` (Unicode strings)."""
    with atomic_write(path, "wb") as file:
        np.savez_compressed(
            file,
            scores=np.asarray(scores, dtype=np.float32),
            article_ids=np.array(article_ids, dtype=np.str_),
            post_ids=np.array(post_ids, dtype=np.str_),
        )


def read_scores(path: str | Path) -> ScoreFile:
    """Read what `write_scores` wrote; pickled arrays are refused.

    Raises:
        DataError: missing or damaged file, missing arrays, or shapes that do not fit each other.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            scores, article_ids, post_ids = (arrays[name] for name in ("scores", "article_ids", "post_ids"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    except KeyError as error:
        raise DataError(f"{path}: has no array {error.args[0].split()[0]}") from error
    except (ValueError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: not a score file of linker ({error})") from error
    if scores.shape != (len(article_ids), len(post_ids)):
        raise DataError(
            f"{path}: scores are {scores.shape}, but there are {len(article_ids)} article and "
            f"{len(post_ids)} post ids"
        )
    return ScoreFile(scores.astype(np.float32, copy=False), article_ids.tolist(), post_ids.tolist())
