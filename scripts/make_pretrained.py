"""Make the bundled models in linker/models/pretrained.

    python scripts/make_pretrained.py best runs/minilm/base --texts typical.txt
    python scripts/make_pretrained.py distilled runs/students/mean

`best` is the default model, from a run of configs/minilm/base.jsonnet (docs/recipes/best.md). Its network is written in
int8, a quarter of the size, and the config without the paths of the training data.

`distilled` has the word vectors of a run of configs/students/mean.jsonnet, whose teacher is all-MiniLM-L6-v2
(Apache-2.0); those in the package were distilled by a former command. The vectors are rotated so that the first numbers
carry most of the variance of their sums; these are kept, as 16-bit floats. Names of accounts and addresses are left out
of the vocabulary.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save

from linker.common.files import atomic_write
from linker.config import build
from linker.data.types import LinkedPosts
from linker.models.files.archive import load_model, read_config, save_model, write_manifest
from linker.models.model import Model, embedding_submodel
from linker.models.onnx.export import export_model
from linker.models.pretrained import BEST, DISTILLED, FOLDERS
from linker.models.siamese.quantization import FILE, save_int8
from linker.models.siamese.word_siamese import WEIGHTS, WordSiamese

NETWORK = "part-0/transformer/model.safetensors"
HUB = "sentence-transformers/all-MiniLM-L6-v2"
MAX_WORDS = 10**6
UNWANTED = re.compile(r"@(?!user$)|[/\\]|.{25}|\d{5}")

BEST_CARD = """# The default model

Four of the six layers of the sentence transformer all-MiniLM-L6-v2 (Apache-2.0), distilled from all of it and then
fine-tuned on links; TF-IDF of the ranked posts, and the word vectors of `distilled`; a softmax over the articles
that are scored together. Made by `scripts/make_pretrained.py` from a run of `configs/minilm/base.jsonnet`, after the
network was trained to give the same embeddings where it reads shortened links as one token, and trained for int8 by
`scripts/train_for_int8.py`. Its weights are in int8, and it scores in int8 by ONNX Runtime, with ranges of 2,000
training texts. Measured on 2026-11-26, before short posts got a least length in TF-IDF (`min_words`), which moves no
figure by more than 0.3; float32 is the network before it was trained for int8 (CheckThat: snopes dev and dev-test,
MAP@5 per post, 14,231 candidates; one post of 401 is 0.25 points):

| MAP in % | float32 | int8 |
|---|---|---|
| plazz, articles alone | 63.73 | 63.51 |
| plazz, together | 70.53 | 70.48 |
| politifact, articles alone | 91.38 | 91.50 |
| politifact, together | 96.03 | 96.02 |
| CheckThat | 96.76 | 96.72 |
| CheckThat, by text | 92.76 | 92.52 |

Training data: 100,094 English tweets, headlines, captions and fact-checks of 2011 to 2021, and links of 12,878
tweets to 6,426 items: headlines on US and British news of 2013 and 2014 (The Plazz), and fact-checks of PolitiFact
and Snopes. `benchmarks/quality/results/quality.md` has its quality on later items of the same sources, and that of
such a model on a source without any link in training. Expect less on other languages, topics and times. A score is
not a probability: label a sample by hand and measure.
"""

DISTILLED_CARD = """# The small model without torch

Word vectors distilled from the sentence transformer all-MiniLM-L6-v2 (Apache-2.0), their mean compared by cosine,
and TF-IDF of the ranked posts; a softmax over the articles that are scored together. Nothing was trained on links.

Made by `scripts/make_pretrained.py` for {words:,} words of English tweets, headlines, captions and fact-checks of
2011 to 2018, {dim} numbers each. `benchmarks/quality/results/quality.md` has its quality. Expect less on other
languages and times: unknown words get vectors by their spelling, and count mainly in TF-IDF.
"""


def make_best(trained: Path, out: Path, texts: Sequence[str] = ()) -> None:
    """Write the trained model in `trained` to `out`, with the network in int8.

    Args:
        trained: folder of a model trained by configs/minilm/base.jsonnet.
        out: folder to write.
        texts: typical posts and articles, for the ranges of activations in int8; by default some of the sample.
    """
    config: dict[str, Any] = read_config(trained)["model"]
    config["model"]["parts"][0]["path"] = HUB
    with tempfile.TemporaryDirectory(dir=out.parent) as name:
        whole, exported = Path(name) / "whole", Path(name) / "exported"
        save_model(load_model(trained), whole, {"model": config}, {}, BEST_CARD)
        network = whole / NETWORK
        save_int8(load_file(network), network.with_name(FILE))
        network.unlink()
        write_manifest(whole)
        export_model(whole, exported, texts)
        shutil.rmtree(out, ignore_errors=True)
        exported.rename(out)


def make_distilled(run: str, out: Path, dim: int) -> None:
    """Write a model of the word vectors of a run to `out`, with `dim` numbers per word."""
    student = embedding_submodel(load_model(Path(run)))
    assert isinstance(student, WordSiamese)
    words, matrix = student.words[1:], student.state_dict()["embedder.words.weight"].numpy()[1:]
    kept = [i for i, word in enumerate(words) if not UNWANTED.search(word)]
    matrix = matrix[kept]
    # Sums of word vectors are compared, so the directions that matter are those of the vectors' own second moments.
    _, directions = np.linalg.eigh(matrix.T @ matrix)
    matrix = matrix @ directions[:, ::-1][:, :dim]  # (words, dim)
    file_of_words = out.with_suffix(".txt")
    with atomic_write(file_of_words) as file:
        file.write(f"{len(kept)} {dim}\n")
        for i, vector in zip(kept, matrix):
            file.write(f"{words[i]} {' '.join(f'{value:.5f}' for value in vector)}\n")
    part: dict[str, Any] = {
        "type": "siamese",
        "tokenizer": "social",
        "vectors": {"source": str(file_of_words), "max_words": MAX_WORDS},
        "embedder": {"type": "word_vectors", "dim": dim, "buckets": 4000},
        "encoder": "mean",
        "title_weight": 0.5,
    }
    config = {
        "type": "article_softmax",
        "temperature": 0.05,
        "null_score": 0.3,
        "neighbor_weight": 0.3,
        "score_center": 9.4,
        "score_width": 1.6,
        "time": "elapsed_time",
        "model": {
            "type": "ensemble",
            "fusion": "sum",
            "parts": [
                part,
                {"type": "tfidf", "stop_words": "by_language", "min_words": 2},
                {"type": "tfidf", "terms": "characters", "min_words": 8},
            ],
            "weights": [1, 2, 0],
            "languages": ["en"],
            "other_weights": [0.1, 1, 1],
        },
    }
    model = build(Model, config)
    model.prepare(LinkedPosts([], []))
    part["vectors"] = None  # A saved model contains them.
    save_model(model, out, {"model": config}, {}, DISTILLED_CARD.format(words=len(kept), dim=dim))
    weights = out / "part-0" / WEIGHTS
    halves = {name: tensor.to(torch.float16) for name, tensor in load_file(weights).items()}
    with atomic_write(weights, "wb") as file:
        file.write(save(halves))
    write_manifest(out)
    file_of_words.unlink()


def main() -> None:
    """Read the trained model or the word vectors, and write the bundled model."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", choices=[BEST, DISTILLED], help="model to make")
    parser.add_argument("source", help="folder of a trained model, or file of word vectors")
    parser.add_argument("--dim", type=int, default=96, help="numbers per word of `distilled` (default: 96)")
    parser.add_argument("--out", type=Path, help="folder to write (default: linker/models/pretrained/MODEL)")
    parser.add_argument(
        "--texts", type=Path, help="typical posts and articles, one per line, for `best` in int8"
    )
    options = parser.parse_args()
    out: Path = options.out or FOLDERS[options.model]
    if options.model == BEST:
        texts = options.texts.read_text(encoding="utf-8").splitlines() if options.texts else ()
        make_best(Path(options.source), out, texts)
    else:
        make_distilled(options.source, out, options.dim)
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    print(f"{out}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
