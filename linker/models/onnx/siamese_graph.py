"""The ONNX graph of a `siamese` over word vectors, in float32, written by torch's own exporter."""

from __future__ import annotations

import inspect
import io
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from linker.common.errors import ModelError
from linker.common.files import atomic_write
from linker.models.averaged_word_vectors import WEIGHTS
from linker.models.onnx.builder import WeightFile
from linker.models.onnx.session import GRAPH
from linker.models.onnx.siamese import EMBEDDINGS, HASHES, IDS, LENGTHS
from linker.models.siamese.word_siamese import WordSiamese
from linker.modules.embedders.word_vectors import WordVectorsEmbedder
from linker.modules.encoders.encoder import Encoder

#: Tables of the graph → their names among the model's weights; the graph refers to them, they are not copied.
_TABLES = {"words": "embedder.words.weight", "subwords": "embedder.subwords", "unknown": "embedder.unknown"}
_OPSET = 17


def check_siamese(folder: Path, model: WordSiamese) -> None:
    """Check that a model can be exported.

    Raises:
        ModelError: if its embedder or encoder cannot.
    """
    encoder, embedder = model.encoder, model.embedder
    if type(encoder).encode_padded is Encoder.encode_padded:
        raise ModelError(
            f"{folder}: cannot be exported; the encoder {type(encoder).__name__} has no ONNX form; "
            "cnn, gru, bigru and star_transformer have one"
        )
    if type(embedder) is not WordVectorsEmbedder:
        raise ModelError(
            f"{folder}: cannot be exported; the embedder {type(embedder).__name__} has no ONNX form, word_vectors has"
        )


def write_siamese_graph(model: WordSiamese, folder: Path) -> None:
    """Write the graph of a model into its folder, beside the weights that it refers to.

    Inputs are `input_ids` (int64, texts × longest: lines of `vocabulary.txt` from 0; the k-th word outside it is its
    number of lines + k), `lengths` (int64, texts: tokens per text) and, for embedders with n-grams, `ngram_hashes`
    (int64, words outside × n-grams, −1 at padding). The output is `embeddings` (float32, texts × dim), of unit length
    if the model's similarity is the cosine.

    Args:
        model: a loaded model that `check_siamese` accepts.
        folder: the folder of its vocabulary and weights.
    """
    import onnx

    tables = [name for name, stored in _TABLES.items() if stored in model.state_dict()]
    inputs: dict[str, Tensor] = {
        IDS: torch.tensor([[0, 1, len(model.vocabulary), 0], [0, len(model.vocabulary), 0, 0]]),
        LENGTHS: torch.tensor([4, 2]),
    }
    axes = {IDS: {0: "texts", 1: "longest"}, LENGTHS: {0: "texts"}, EMBEDDINGS: {0: "texts"}}
    if "subwords" in tables:
        inputs[HASHES] = torch.tensor([[1, 2, -1]])
        axes[HASHES] = {0: "words", 1: "ngrams"}
    state = model.state_dict()
    inputs |= {name: state[_TABLES[name]] for name in tables}
    written = io.BytesIO()
    network = _PaddedSiamese(model, list(inputs)).eval()
    with torch.no_grad(), warnings.catch_warnings():
        # That this exporter, which needs no onnxscript, is the older one; and about batches of other sizes.
        warnings.simplefilter("ignore")
        # Early versions of torch have no other exporter here, and no argument.
        known = inspect.signature(torch.onnx.export).parameters
        options: dict[str, Any] = {"dynamo": False} if "dynamo" in known else {}
        torch.onnx.export(
            network,
            tuple(inputs.values()),
            written,  # type: ignore[arg-type]
            input_names=list(inputs),
            output_names=[EMBEDDINGS],
            dynamic_axes=axes,
            opset_version=_OPSET,
            **options,
        )
    graph = onnx.load_from_string(written.getvalue())
    # Early versions of torch leave it open.
    graph.graph.output[0].type.tensor_type.shape.dim[1].dim_value = model.encoder.output_dim
    weights = WeightFile(folder / WEIGHTS)
    for name in tables:
        tensor = weights.tensor(_TABLES[name])
        tensor.name = name
        graph.graph.initializer.append(tensor)
        graph.graph.input.remove(next(given for given in graph.graph.input if given.name == name))
    with atomic_write(folder / GRAPH, "wb") as file:
        file.write(graph.SerializeToString())


class _PaddedSiamese(nn.Module):
    """Token ids and tables to embeddings, in operations that ONNX has."""

    def __init__(self, model: WordSiamese, names: list[str]) -> None:
        super().__init__()
        self.encoder, self._cosine, self._names = model.encoder, model.similarity == "cosine", names

    def forward(self, *inputs: Tensor) -> Tensor:
        """Return embeddings: float, texts × dim."""
        named = dict(zip(self._names, inputs))
        ids, lengths, words = named[IDS], named[LENGTHS], named["words"]
        size = words.shape[0]
        inside = torch.arange(ids.shape[1]) < lengths[:, None]  # (texts, longest)
        vectors = words[ids.clamp(max=size - 1)]  # (texts, longest, dim)
        vectors = torch.where(
            (ids < size)[..., None], vectors, self._outside(named, (ids - size).clamp(min=0))
        )
        embeddings = self.encoder.encode_padded(vectors * inside[..., None], lengths)
        return nn.functional.normalize(embeddings, dim=-1) if self._cosine else embeddings

    def _outside(self, named: dict[str, Tensor], numbers: Tensor) -> Tensor:
        """Vectors of words outside the vocabulary, by their numbers: float, texts × longest × dim or 1 × dim."""
        zeros = torch.zeros_like(named["words"][:1])
        if HASHES not in named:
            return named.get("unknown", zeros)
        hashes, table = named[HASHES], named["subwords"]
        real = hashes >= 0  # (words, n-grams)
        rows = table[hashes.clamp(min=0) % table.shape[0]] * real[..., None]
        # As in the embedder: the sum of n rows, divided by √n.
        vectors = rows.sum(1) / real.sum(1, keepdim=True).clamp(min=1).sqrt()
        return torch.cat([vectors, zeros])[numbers]  # there may be no such word
