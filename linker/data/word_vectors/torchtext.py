"""Word vectors that torchtext itself fetches, caches and reads."""

from __future__ import annotations

import os
import pickle
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from linker.common.errors import ConfigError, DataError
from linker.data.torchtext_import import import_torchtext
from linker.data.word_vectors.word_vectors import WordVectors


@WordVectors.register("torchtext")
class TorchtextVectors(WordVectors):
    """Calls torchtext's `Vectors`. Needs the extra `[torchtext]`; `file` reads the same files without it.

    torchtext fetches without looking at certificates, and torch 2.3 has a known flaw in reading its caches: use
    only files that you trust.
    """

    def __init__(
        self,
        name: str,
        cache: str | None = None,
        max_vectors: int | None = None,
        lower_case_backup: bool = False,
    ) -> None:
        """Say which vectors are meant; nothing is read yet.

        Args:
            name: a file, or one of torchtext's names: `glove.6B.300d`, `fasttext.en.300d`.
            cache: torchtext's cache folder; null: `.vector_cache`.
            max_vectors: read no more than this many of the file's first vectors.
            lower_case_backup: give a word without a vector the one of its lower-case spelling.
        """
        self.name, self.cache, self.max_vectors = name, cache, max_vectors
        self.lower_case_backup = lower_case_backup

    def read(self, wanted: set[str] | None = None) -> tuple[list[str], np.ndarray]:
        """All words that torchtext read, and with `lower_case_backup` the wanted ones whose lower case is there.

        Returns:
            The words, distinct, without those that hold white space; float32, words × dimensions.

        Raises:
            ConfigError: torchtext cannot be imported, or the vectors are not of words.
            DataError: torchtext cannot get or read them.
        """
        vectors = self._vectors()
        words = [word for word in dict.fromkeys(vectors.itos) if word.split() == [word]]
        if self.lower_case_backup:
            known = vectors.stoi
            words += sorted(word for word in wanted or () if word not in known and word.lower() in known)
        if not words:
            raise DataError(f"torchtext finds no words in {self.name!r}")
        return words, vectors.get_vecs_by_tokens(words, self.lower_case_backup).numpy()

    def _vectors(self) -> Any:
        # Not before it is needed: a finished model loads where there is no torchtext.
        torchtext = import_torchtext("vocab")
        load = torchtext.pretrained_aliases.get(self.name)
        if load is not None and load.func is torchtext.CharNGram:
            raise ConfigError(f"{self.name!r} has vectors of letter sequences, not of words")
        try:
            with _kept_in_bounds():
                if load is not None:
                    return load(cache=self.cache, max_vectors=self.max_vectors)
                return torchtext.Vectors(self.name, cache=self.cache, max_vectors=self.max_vectors)
        except (OSError, EOFError, RuntimeError, TypeError, ValueError, pickle.UnpicklingError) as error:
            raise DataError(f"torchtext cannot give the vectors {self.name!r}: {error}") from error


@contextmanager
def _kept_in_bounds() -> Iterator[None]:
    """torchtext may neither unpickle whatever a cache file holds nor leave certificates unchecked for everyone."""
    forced, context = "TORCH_FORCE_WEIGHTS_ONLY_LOAD", ssl._create_default_https_context
    before = os.environ.get(forced)
    os.environ[forced] = "1"
    try:
        yield
    finally:
        ssl._create_default_https_context = context
        if before is None:
            del os.environ[forced]
        else:
            os.environ[forced] = before
