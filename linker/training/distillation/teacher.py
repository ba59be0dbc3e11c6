"""The teacher of a distillation, and its embeddings cached on disk."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from linker.common.console import info, progress_bar
from linker.common.errors import ModelError
from linker.common.files import atomic_write, real_path
from linker.config import build
from linker.data.types import Post
from linker.models.files.archive import MANIFEST, load_model
from linker.models.files.hub import is_hub_name
from linker.models.model import Model, embedding_submodel
from linker.models.siamese.hugging_face import MODULES
from linker.training.distributed.context import DistributedContext

Encode = Callable[[Sequence[str]], np.ndarray]

#: Texts per file of the cache: what an interruption costs at most.
TEXTS_PER_FILE = 2_048


class Teacher:
    """A model whose embeddings a student learns from.

    Args:
        path: a folder of sentence-transformers or its name on the Hugging Face hub, or a model folder of linker.

    Attributes:
        name: identifies the teacher in a cache.

    Raises:
        ModelError: if it is neither, is damaged, or has no embeddings.
    """

    def __init__(self, path: str) -> None:
        folder = Path(path)
        if (folder / MANIFEST).is_file():
            model = load_model(folder)
        elif (folder / MODULES).is_file() or is_hub_name(path):
            model = build(Model, {"type": "sentence_transformer", "path": path})
        else:
            raise ModelError(
                f"{path}: neither the folder of a sentence-transformers model nor a model folder; "
                "download a model and give its folder, or give its name on the Hugging Face hub"
            )
        part = embedding_submodel(model)
        if part is None:
            raise ModelError(f"{path}: this model has no embeddings to learn from; use one that has")
        self._part = part
        self.name = path if is_hub_name(path) else str(real_path(folder))

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return the embeddings of texts: float32, texts × dim, unit length for cosines."""
        vectors = self._part.post_vectors([Post(str(i), text) for i, text in enumerate(texts)])
        assert vectors is not None
        return vectors


class CachedTeacher:
    """A teacher whose embeddings are kept in a folder: each distinct text is encoded once.

    Args:
        folder: the cache; created if it does not exist.
        teacher: name of the teacher; several teachers can share a folder.
        encode: returns the teacher's embeddings, float32, texts × dim, unit length.
        workers: the processes that share the encoding, all of which see the folder.
    """

    def __init__(
        self, folder: Path, teacher: str, encode: Encode, workers: DistributedContext | None = None
    ) -> None:
        self._folder, self._name, self._encode = folder, teacher, encode
        self._workers = workers or DistributedContext()
        self._vectors: dict[bytes, np.ndarray] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self._read()

    def encode(self, texts: Sequence[str], description: str) -> np.ndarray:
        """Return the embeddings of texts, float32, texts × dim; the teacher encodes those not in the cache.

        Args:
            texts: at least one.
            description: of the texts, for the progress bar.
        """
        keys = [self._key(text) for text in texts]
        # Before any process adds to the cache, all of them agree on what is missing.
        self._workers.all_reduce_max(0)
        first = {key: i for i, key in reversed(list(enumerate(keys)))}
        missing = sorted(i for key, i in first.items() if key not in self._vectors)
        share = missing[self._workers.rank :: self._workers.size]
        with progress_bar() as progress:
            bar = progress.add_task(f"the teacher encodes {description}", total=len(share))
            for start in range(0, len(share), TEXTS_PER_FILE):
                part = share[start : start + TEXTS_PER_FILE]
                self._add([texts[i] for i in part], [keys[i] for i in part])
                progress.advance(bar, len(part))
        self._workers.all_reduce_max(0)
        if self._workers.size > 1 and missing:
            self._read()
        return np.stack([self._vectors[key] for key in keys]).astype(np.float32)

    def _read(self) -> None:
        for path in sorted(self._folder.glob("*.npz")):
            try:
                with np.load(path, allow_pickle=False) as part:
                    self._vectors.update(zip(map(bytes, part["keys"]), part["vectors"]))
            except (ValueError, OSError, KeyError, BadZipFile):
                info(f"{path}: damaged; its texts are encoded again")

    def _add(self, texts: Sequence[str], keys: Sequence[bytes]) -> None:
        # float16 is accurate enough: the teacher itself is not more precise.
        vectors = self._encode(texts).astype(np.float16)
        self._vectors.update(zip(keys, vectors))
        joined = b"".join(keys)
        with atomic_write(self._folder / f"{sha256(joined).hexdigest()[:32]}.npz", "wb") as file:
            np.savez(file, keys=np.frombuffer(joined, np.uint8).reshape(-1, 16), vectors=vectors)

    def _key(self, text: str) -> bytes:
        return sha256(f"{self._name}\n{text}".encode("utf-8", "surrogatepass")).digest()[:16]
