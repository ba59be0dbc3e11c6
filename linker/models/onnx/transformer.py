"""Transformers in int8 for scoring, run by ONNX Runtime; imports no torch."""

import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
from safetensors.numpy import load_file
from typing_extensions import override

from linker.common.concurrency import in_threads, threads
from linker.common.errors import ModelError
from linker.data.token_axis import length_buckets
from linker.data.tokenizers.normalization import Normalization, normalized
from linker.data.vocabulary import EncodedText
from linker.models.embedding_model import EmbeddingModel, Side, Similarity, blocks, eight_bits, unit_length
from linker.models.files.archive import MANIFEST, check_manifest
from linker.models.model import Model
from linker.models.onnx.token_embeddings import FILE as WORDS
from linker.models.onnx.token_embeddings import TokenEmbeddings

FOLDER, TOKENIZER, GRAPH = "transformer", "tokenizer.json", "model.onnx"
#: Splits texts into tokens if it is there; `tokenizers` then only normalizes them. 250,000 tokens take 70 MB, not 290.
SENTENCEPIECE = "sentencepiece.model"
#: Linear maps of the embeddings of articles and of posts: `articles.mean`, which is subtracted first, so that unrelated
#: texts are near 0, (dim,); `articles.matrix`, dim × dim; and the same of `posts`; of any float type. `hubs` are mapped
#: articles of training, int8, articles × dim, with the multipliers `hubs.scales`; `hubs.usual` is a mean similarity.
HEADS = "heads.safetensors"
# CSLS subtracts half of a post's mean cosine with its ten nearest articles (Conneau et al. 2018, section 2.3): an
# article's embedding ends in 0.25, and a post's in -2 times that mean, so that their dot product subtracts it.
_NEAREST, _LAST = 10, np.float32(0.25)
_READING = threading.RLock()
# Texts of one length that are encoded together: activations then fit the caches.
_TOKENS_TOGETHER = 512


@Model.register("onnx_transformer")
class OnnxTransformerModel(EmbeddingModel):
    """A `transformer` for scoring only: int8 matrix products in ONNX Runtime instead of torch.

    Loads the folder of a `transformer` that `linker model export` wrote, when the first text is encoded. Activations
    are quantized with fixed ranges, so an embedding does not depend on the texts encoded with it. Configs of yours
    never name it: commands that score use it for a `transformer` with `precision: 'int8'`.

    Args:
        max_article_tokens: see `transformer`.
        max_post_tokens: see `transformer`.
        normalization: see `transformer`.
        similarity: see `transformer`.
        title_weight: see `transformer`.
        article_prefixes: see `transformer`.
        embedding_precision: see `transformer`.
        prefix: put before each text, such as `query: `.
        languages: ISO 639-1 codes of the languages that the network was trained on; None: unknown.
    """

    tokens_per_chunk = 65_536

    def __init__(
        self,
        max_article_tokens: int = 128,
        max_post_tokens: int = 128,
        normalization: Normalization = "none",
        similarity: Similarity = "cosine",
        title_weight: float = 0.0,
        article_prefixes: list[int] | None = None,
        embedding_precision: Literal["float32", "int8"] = "float32",
        prefix: str = "",
        languages: list[str] | None = None,
    ) -> None:
        self.prefix, self.languages = prefix, languages
        self.rounds_posts = embedding_precision == "int8"
        self._set_limits(max_article_tokens, max_post_tokens, similarity, title_weight, article_prefixes)
        self.normalization: Normalization = normalization
        self._read_tokenizers: tuple[Any, Any] | None = None
        self._folder = Path()
        self._checked = False
        self._sent: dict[str, bytes] = {}
        self._opened: Any = None
        self._words: TokenEmbeddings | None = None
        self._heads: dict[str, np.ndarray] = {}
        self._threads = 1

    @override
    def load_state(self, folder: Path) -> None:
        """Remember the folder; the graph and the tokenizer are read when the first text is encoded.

        Raises:
            ModelError: if a file is missing.
        """
        self._folder = folder / FOLDER
        for name in (GRAPH, TOKENIZER):
            if not (self._folder / name).is_file():
                raise ModelError(f"{self._folder / name}: file not found; copy the model folder again")

    @override
    def _tokens(self, text: str, limit: int) -> EncodedText:
        text = self.prefix + normalized(text, self.normalization)
        tokenizer, segmenter = self._tokenizers
        if segmenter is None:
            pieces = tokenizer.encode(text, add_special_tokens=False)
            pieces.truncate(limit - tokenizer.num_special_tokens_to_add(False))
            ids = tokenizer.post_process(pieces).ids
        else:
            ids = segmenter.encode(tokenizer.normalizer.normalize_str(text))[: limit - 2]
            ids = [segmenter.bos_id(), *ids, segmenter.eos_id()]
        return EncodedText(np.array(ids or [0], dtype=np.int32), ())

    @property
    def _tokenizers(self) -> tuple[Any, Any]:
        """Return the tokenizer and, if there is one, the segmenter, read once for all limits."""
        with _READING:
            if self._read_tokenizers is None:
                import tokenizers

                segmenter = None
                with self._files() as folder, _damage(self._folder):
                    tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER))
                    if (file := folder / SENTENCEPIECE).is_file():
                        import sentencepiece

                        segmenter = sentencepiece.SentencePieceProcessor(model_file=str(file))
                tokenizer.no_padding()
                tokenizer.no_truncation()
                self._read_tokenizers = tokenizer, segmenter
            return self._read_tokenizers

    @property
    def _session(self) -> Any:
        """Return the session of the graph, which is read when it is needed."""
        with _READING:
            if self._opened is None:
                with self._files() as folder:
                    self._open(folder)
            return self._opened

    def _open(self, folder: Path) -> None:
        """Read the graph of a folder, and what is looked up outside of it."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        # Batches run side by side: their operations are too small to be divided.
        options.intra_op_num_threads = 1
        self._threads = threads()
        with _damage(self._folder):
            self._words = TokenEmbeddings.load(folder) if (folder / WORDS).is_file() else None
            heads = load_file(folder / HEADS) if (folder / HEADS).is_file() else {}
            self._heads = {name: values.astype(np.float32) for name, values in heads.items()}
            self._opened = onnxruntime.InferenceSession(
                str(folder / GRAPH), options, providers=["CPUExecutionProvider"]
            )

    @contextmanager
    def _files(self) -> Iterator[Path]:
        """Yield a folder with the files."""
        if not self._sent:
            # A network with a manifest of its own is checked when it is used; its model names only the manifest.
            if not self._checked and (self._folder / MANIFEST).is_file():
                check_manifest(self._folder)
            self._checked = True
            yield self._folder
            return
        with tempfile.TemporaryDirectory(prefix="linker-") as folder:
            for name, content in self._sent.items():
                (Path(folder) / name).write_bytes(content)
            yield Path(folder)

    def __getstate__(self) -> dict[str, Any]:
        """Return the model with its files, for workers on other machines."""
        names = (GRAPH, TOKENIZER, SENTENCEPIECE)
        paths = [*map(self._folder.joinpath, names), *self._folder.glob("*.safetensors")]
        sent = self._sent or {path.name: path.read_bytes() for path in paths if path.is_file()}
        return self.__dict__ | {"_opened": None, "_words": None, "_read_tokenizers": None, "_sent": sent}

    @property
    @override
    def output_dim(self) -> int:
        return int(self._session.get_outputs()[0].shape[1])

    @override
    def _embedded(self, collated: Sequence[EncodedText]) -> np.ndarray:
        vectors = np.empty((len(collated), self.output_dim), dtype=np.float32)
        lengths = [len(text.ids) for text in collated]

        def run(bucket: Sequence[int]) -> None:
            ids = np.array([collated[i].ids for i in bucket], dtype=np.int64)  # (texts, tokens)
            words = (
                {"input_ids": ids} if self._words is None else {"words_vectors": self._words.vectors(ids.T)}
            )
            vectors[bucket] = self._session.run(None, words)[0]

        buckets = list(length_buckets(lengths, _TOKENS_TOGETHER, equal=True))
        in_threads(run, buckets[::-1], self._threads)  # the longest first
        return unit_length(vectors) if self.similarity == "cosine" else vectors

    @override
    def _mapped(self, vectors: np.ndarray, side: Side) -> np.ndarray:
        if not self._heads:
            return vectors
        matrix, has_hubs = self._heads[f"{side}.matrix"], "hubs" in self._heads
        found = np.empty((len(vectors), len(matrix) + has_hubs), dtype=np.float32)
        for some, mapped in zip(blocks(vectors), blocks(found)):
            # Unlike a product by BLAS, a row does not depend on the others.
            product = np.einsum("nd,ed->ne", some - self._heads[f"{side}.mean"], matrix)
            mapped[:, : len(matrix)] = unit_length(product)
            if has_hubs:
                mapped[:, -1] = _LAST if side == "articles" else self._hubness(mapped[:, :-1]) / (-2 * _LAST)
        return found

    def _hubness(self, posts: np.ndarray) -> np.ndarray:
        """Return the mean similarity of each post to the nearest hubs, minus the usual one: float32, (posts,)."""
        values, scales = eight_bits(posts)
        # Sums of whole numbers up to 2 ** 24 are exact, so a row does not depend on the others here, either.
        similar = values.astype(np.float32) @ self._heads["hubs"].T * self._heads["hubs.scales"]
        means: np.ndarray = np.sort(similar, axis=1)[:, -_NEAREST:].mean(axis=1) * scales
        return means - self._heads["hubs.usual"]


@contextmanager
def _damage(folder: Path) -> Iterator[None]:
    """Raise a ModelError of one line for whatever reading the files of a folder raises."""
    try:
        yield
    except Exception as error:  # the packages raise classes of their own, derived from Exception only
        reason = str(error).strip().split("\n")[0]
        raise ModelError(f"{folder}: cannot be loaded ({reason}); copy the model folder again") from error
