"""Word vectors downloaded, cached and read by torchtext."""

import os
import pickle
import ssl

import numpy as np

from linker.common.errors import ConfigError, DataError
from linker.data.torchtext_import import import_torchtext
from linker.data.word_vectors.word_vectors import WordVectors


@WordVectors.register("torchtext")
class TorchtextVectors(WordVectors):
    """torchtext's `Vectors`. Needs the extra `[torchtext]`; `file` reads the same files without it.

    torchtext downloads without checking certificates, and torch 2.3 has a known vulnerability in reading its caches:
    use only files that you trust.

    Args:
        name: a file, or one of torchtext's names, such as `glove.6B.300d` or `fasttext.en.300d`.
        cache: torchtext's cache folder; null: `.vector_cache`.
    """

    def __init__(self, name: str, cache: str | None = None) -> None:
        self.name, self.cache = name, cache

    def read(self, wanted: set[str] | None = None) -> tuple[list[str], np.ndarray]:
        """Read all words of torchtext.

        Returns:
            The distinct words without white space, and float32, words × dim.

        Raises:
            ConfigError: if torchtext cannot be imported, or the vectors are not those of words.
            DataError: if torchtext cannot download or read the vectors.
        """
        # Imported late, so that a trained model loads without torchtext.
        torchtext = import_torchtext("vocab")
        load = torchtext.pretrained_aliases.get(self.name)
        if load is not None and load.func is torchtext.CharNGram:
            raise ConfigError(
                f"{self.name}: vectors of character n-grams, not of words; choose other vectors"
            )
        # torchtext must neither unpickle arbitrary objects nor turn off certificate checks for the process.
        forced, context = "TORCH_FORCE_WEIGHTS_ONLY_LOAD", ssl._create_default_https_context
        before = os.environ.get(forced)
        os.environ[forced] = "1"
        try:
            vectors = load(cache=self.cache) if load else torchtext.Vectors(self.name, cache=self.cache)
        except (OSError, EOFError, RuntimeError, TypeError, ValueError, pickle.UnpicklingError) as error:
            raise DataError(f"{self.name}: torchtext cannot load the vectors: {error}") from error
        finally:
            ssl._create_default_https_context = context
            if before is None:
                del os.environ[forced]
            else:
                os.environ[forced] = before
        words = [word for word in dict.fromkeys(vectors.itos) if word.split() == [word]]
        if not words:
            raise DataError(f"{self.name}: torchtext read no words from it; choose other vectors")
        return words, vectors.get_vecs_by_tokens(words).numpy()
