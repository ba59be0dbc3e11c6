"""The model that linker brings along, from distilled word vectors: linker/models/pretrained/distilled.

    linker vectors distil TEXTS... --teacher FOLDER --out vectors.txt.gz
    python scripts/make_distilled.py vectors.txt.gz

FOLDER is that of all-MiniLM-L6-v2 (Apache-2.0). The vectors are turned so that most of what sums of them say is in the
first numbers; those are kept, as 16-bit floats. Names of accounts and addresses among the words are left out.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save

from linker.common.files import atomic_write
from linker.config import build
from linker.data.types import LinkedPosts
from linker.data.word_vectors.file import VectorFile
from linker.models.archive import save_model
from linker.models.model import Model
from linker.models.pretrained import DISTILLED, FOLDERS
from linker.models.siamese.word_siamese import WEIGHTS

ODD = re.compile(r"@(?!user$)|[/\\]|.{25}|\d{5}")

CARD = """# The model that linker brings along

Word vectors distilled from the sentence transformer all-MiniLM-L6-v2 (Apache-2.0), their mean compared by cosine, and
TF-IDF of the posts at hand beside it; articles asked together compete for each post. Nothing was trained on links.

Made by `scripts/make_distilled.py` for {words:,} words of English tweets, headlines, captions and fact-checks of
2011 to 2018, {dim} numbers each. `benchmarks/quality.md` says how good it is. Expect less on other languages and times:
words it does not know get vectors by their spelling, and count in TF-IDF above all.
"""


def main() -> None:
    """Read the vectors, write the folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vectors", help="a file of `linker vectors distil`")
    parser.add_argument("--dim", type=int, default=96, help="numbers kept of each vector")
    parser.add_argument("--out", type=Path, default=FOLDERS[DISTILLED])
    options = parser.parse_args()
    words, matrix = VectorFile(options.vectors, max_words=10**6).read(None)
    kept = [i for i, word in enumerate(words) if not ODD.search(word)]
    matrix = matrix[kept]
    # Sums of word vectors are compared, so the directions that matter are those of the vectors' own second moments.
    _, directions = np.linalg.eigh(matrix.T @ matrix)
    matrix = matrix @ directions[:, ::-1][:, : options.dim]
    with atomic_write(options.out.with_suffix(".txt")) as file:
        file.write(f"{len(kept)} {options.dim}\n")
        for i, vector in zip(kept, matrix):
            file.write(f"{words[i]} {' '.join(f'{value:.5f}' for value in vector)}\n")
    part = {
        "type": "siamese",
        "tokenizer": "social",
        "vectors": {"source": str(options.out.with_suffix(".txt")), "max_words": 10**6},
        "embedder": {"type": "word_vectors", "dim": options.dim, "buckets": 4000},
        "encoder": "mean",
        "title_share": 0.5,
    }
    config = {
        "type": "article_softmax",
        "temperature": 0.05,
        "null_score": 0.3,
        "neighbor_weight": 0.3,
        "model": {"type": "ensemble", "fusion": "sum", "parts": [part, "tfidf"], "weights": [1, 2]},
    }
    model = build(Model, config)
    model.prepare(LinkedPosts([], []))
    part["vectors"] = None  # a saved model needs none
    save_model(model, options.out, {"model": config}, {}, CARD.format(words=len(kept), dim=options.dim))
    weights = options.out / "part-0" / WEIGHTS
    halves = {name: tensor.to(torch.float16) for name, tensor in load_file(weights).items()}
    with atomic_write(weights, "wb") as file:
        file.write(save(halves))
    options.out.with_suffix(".txt").unlink()
    print(f"{options.out}: {len(kept):,} words, {weights.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
