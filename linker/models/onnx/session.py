"""Base of the models that ONNX Runtime runs; imports no torch."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence, Sized
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from linker.common.concurrency import ahead, in_threads, threads
from linker.common.console import progress_bar
from linker.common.errors import ModelError
from linker.data.token_axis import length_buckets, token_batches
from linker.data.vocabulary import EncodedText
from linker.models.embedding_model import EmbeddingModel, unit_length

GRAPH = "model.onnx"

# Tokens between two updates of the progress bar.
_TOKENS_PER_CHUNK = 65_536


class OnnxModel(EmbeddingModel):
    """Base of the models that score by a graph; the attributes of `EmbeddingModel`, and:

    Attributes:
        tokens_together: maximum number of tokens encoded together: activations then fit the caches.
        padded: whether texts of several lengths are encoded together.
    """

    tokens_together: ClassVar[int]
    padded: ClassVar[bool] = True

    def __init__(self) -> None:
        self._folder = Path()
        self._session: Any = None
        self._threads = 1
        self._names: frozenset[str] = frozenset()

    def _open(self, folder: Path, others: Sequence[str]) -> None:
        """Open the graph of a folder.

        Args:
            folder: the folder of the graph.
            others: names of further files that must be there.

        Raises:
            ModelError: if a file is missing, or the graph is damaged.
        """
        import onnxruntime

        for name in (GRAPH, *others):
            if not (folder / name).is_file():
                raise ModelError(f"{folder / name}: file not found; copy the model folder again")
        self._folder = folder
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        # Batches run side by side: their operations are too small to be divided.
        options.intra_op_num_threads = 1
        self._threads = threads()
        try:
            self._session = onnxruntime.InferenceSession(
                str(folder / GRAPH), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the package raises classes of its own, derived from Exception only
            raise damaged(folder, error) from error
        self._names = frozenset(given.name for given in self._session.get_inputs())

    def __getstate__(self) -> dict[str, Any]:
        """Return the model with the files of its graph in place of the session, for workers on other machines."""
        names = [GRAPH, *(path.name for path in self._folder.glob("*.safetensors"))]
        files = {name: (self._folder / name).read_bytes() for name in names} if self._session else {}
        return self.__dict__ | {"_session": None, "_files": files}

    def __setstate__(self, state: dict[str, Any]) -> None:
        files: dict[str, bytes] = state.pop("_files")
        self.__dict__.update(state)
        if files:
            with tempfile.TemporaryDirectory(prefix="linker-") as folder:
                for name, content in files.items():
                    (Path(folder) / name).write_bytes(content)
                self._open(Path(folder), ())
            self._folder = state["_folder"]  # the files of the temporary folder are gone

    def _inputs(self, texts: Sequence[EncodedText]) -> dict[str, np.ndarray]:
        """Return a batch as inputs of the graph, by name; those that the graph lacks are left out."""
        raise NotImplementedError

    @override
    def encode(
        self, texts: Iterable[EncodedText], description: str = "encoding", count: int | None = None
    ) -> np.ndarray:
        width = self._session.get_outputs()[0].shape[1]
        vectors = [np.zeros((0, width), dtype=np.float32)]
        with progress_bar() as progress:
            bar = progress.add_task(description, total=len(texts) if isinstance(texts, Sized) else count)
            for batch in ahead(token_batches(texts, _TOKENS_PER_CHUNK)):
                vectors.append(self._vectors(batch, width))
                progress.advance(bar, len(batch))
        return np.concatenate(vectors)

    def _vectors(self, texts: Sequence[EncodedText], width: int) -> np.ndarray:
        """float32, texts × dim; of unit length if `similarity` is `cosine`."""
        vectors = np.empty((len(texts), width), dtype=np.float32)
        lengths = [len(text.ids) for text in texts]

        def run(bucket: Sequence[int]) -> None:
            inputs = self._inputs([texts[i] for i in bucket])
            used = {name: values for name, values in inputs.items() if name in self._names}
            vectors[bucket] = self._session.run(None, used)[0]

        buckets = list(length_buckets(lengths, self.tokens_together, equal=not self.padded))
        in_threads(run, buckets[::-1], self._threads)  # the longest first
        return unit_length(vectors) if self.similarity == "cosine" else vectors


def damaged(folder: Path, error: Exception) -> ModelError:
    """Return the error for a folder that cannot be loaded, in one line."""
    reason = str(error).strip().split("\n")[0]
    return ModelError(f"{folder}: cannot be loaded ({reason}); copy the model folder again")
