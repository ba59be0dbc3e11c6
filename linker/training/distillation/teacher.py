"""What a teacher says of texts, asked once and kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from itertools import chain
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from linker.common.console import progress_bar, stderr
from linker.common.errors import ModelError
from linker.common.files import atomic_write
from linker.config import build
from linker.data.types import Post
from linker.models.archive import CONFIG, load_model
from linker.models.model import Model, embedding_submodel


class Teacher:
    """Vectors of texts from a model that is only read.

    Args:
        path: a folder of sentence-transformers, or a model folder of `linker train`.

    Raises:
        ModelError: it is neither, is damaged, or gives no vectors.
    """

    def __init__(self, path: str) -> None:
        folder = Path(path)
        if (folder / "modules.json").is_file():
            model = build(Model, {"type": "sentence_transformer", "path": path})
        elif (folder / CONFIG).is_file():
            model = load_model(folder)
        else:
            raise ModelError(
                f"{path}: neither the folder of a sentence-transformers model nor a model folder; download one, "
                "and give its folder"
            )
        part = embedding_submodel(model)
        if part is None:
            raise ModelError(f"{path}: this model gives no vectors to learn from; give one that does")
        self._part = part
        self.name = str(folder.resolve())

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """float32, texts × dim."""
        vectors = self._part.post_vectors([Post(str(i), text) for i, text in enumerate(texts)])
        assert vectors is not None
        return vectors


Encode = Callable[[Sequence[str]], np.ndarray]

# A long text is read in pieces of so many words: less than what a sentence transformer cuts off.
LONGEST_PIECE = 100
# What an interruption costs at most.
TEXTS_AT_ONCE = 2_048


def pieces_of(texts: Iterable[str]) -> list[str]:
    """What a teacher reads of texts: their pieces, in order, each once."""
    return list(dict.fromkeys(chain.from_iterable(map(_pieces, texts))))


class Said:
    """What a teacher said of texts, kept in a folder: no text is read twice, whatever comes beside it.

    Args:
        folder: made where it does not exist.
        teacher: tells this teacher from others.
        encode: the teacher: float32, texts × dim, of unit length.
    """

    def __init__(self, folder: Path, teacher: str, encode: Encode) -> None:
        self._folder, self.teacher, self._encode = folder, teacher, encode
        folder.mkdir(parents=True, exist_ok=True)
        self._vectors: dict[bytes, np.ndarray] = {}
        for path in sorted(folder.glob("*.npz")):
            try:
                with np.load(path, allow_pickle=False) as part:
                    self._vectors.update(zip(map(bytes, part["keys"]), part["vectors"]))
            except (ValueError, OSError, KeyError, BadZipFile):
                stderr.print(f"{path}: damaged; the teacher is asked again", highlight=False)

    def about(self, texts: Sequence[str], what: str) -> np.ndarray:
        """float32, texts × dim."""
        keys = [self._key(text) for text in texts]
        new = [i for i, key in enumerate(keys) if key not in self._vectors]
        with progress_bar() as progress:
            bar = progress.add_task(f"the teacher reads {what}", total=len(new))
            for start in range(0, len(new), TEXTS_AT_ONCE):
                part = new[start : start + TEXTS_AT_ONCE]
                self._ask([texts[i] for i in part], [keys[i] for i in part])
                progress.advance(bar, len(part))
        return np.stack([self._vectors[key] for key in keys]).astype(np.float32)

    def _ask(self, texts: Sequence[str], keys: Sequence[bytes]) -> None:
        # The teacher's own figures are not surer than 16 bits.
        vectors = self._encode(texts).astype(np.float16)
        self._vectors.update(zip(keys, vectors))
        path = self._folder / f"{sha256(b''.join(keys)).hexdigest()[:32]}.npz"
        with atomic_write(path, "wb") as file:
            np.savez(file, keys=np.frombuffer(b"".join(keys), np.uint8).reshape(-1, 16), vectors=vectors)

    def _key(self, text: str) -> bytes:
        named = f"{self.teacher}\n{text}"
        return sha256(named.encode("utf-8", "surrogatepass")).digest()[:16]


def _pieces(text: str) -> list[str]:
    words = text.split()
    return [" ".join(words[i : i + LONGEST_PIECE]) for i in range(0, len(words), LONGEST_PIECE)]
