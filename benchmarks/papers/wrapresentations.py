"""Measure how well WRAPresentations groups tweets by class across topics; write results/wrapresentations.md.

    python -m benchmarks.papers.wrapresentations --tweets TWEETS --network NETWORK --vectors VECTORS --work WORK

TWEETS is the file tweeteval.tsv.gz (task, split, label, text), NETWORK a Hugging Face folder or name, VECTORS word
vectors. The five targets of the stance task are the topics, its labels the classes; one topic is held out, and 40 % of
each class of the others are for testing. WORK receives everything that is made; existing parts are reused. The words of
the augmentation come from NETWORK's own masked-LM head; if it has none, one is trained here on the tweets of the train
part and those of other tasks, with the network itself frozen.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import platform
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file

from benchmarks.papers.wrapresentations_metrics import (
    PairFigures,
    cross_validated_f1,
    pair_figures,
    topic_wise_f1,
)
from linker.common.errors import ModelError
from linker.config import build, load_config
from linker.contrib.wrapresentations.augmentation import augment
from linker.contrib.wrapresentations.batches import count_pairs
from linker.data.data_source import DataSource
from linker.data.splitters.splitter import Splits
from linker.data.types import LinkedPosts, Post
from linker.models.archive import load_model
from linker.models.model import Model
from linker.models.siamese.hugging_face import load_network
from linker.models.siamese.siamese import SiameseModel
from linker.training.checkpointing.checkpointer import LAST
from linker.training.experiment import Experiment

ROOT = Path(__file__).resolve().parents[2]
NOTES, REPORT = (
    Path(__file__).parent / "results" / name for name in ("wrapresentations-notes.md", "wrapresentations.md")
)
HELD_OUT, CLASSES = "abortion", ["against", "favor", "none"]
# Of the paper's tables: precision, recall, F1.
PAPER = {
    "BERTweet, CLS": (50.00, 100.00, 66.67),
    "augmented BERTweet, CLS": (65.69, 86.66, 74.73),
    "WRAPresentations, CLS": (66.00, 84.32, 74.04),
    "WRAPresentations, mean-trained, CLS-tested": (63.05, 88.91, 73.78),
}
THRESHOLD_TEXTS = 600


def written(tweets: Path, work: Path) -> tuple[Path, Path, list[str]]:
    """Write labels and texts in TACO's format, and the tweets of the other tasks."""
    labels, texts, others = work / "labels.csv", work / "texts.jsonl", []
    with (
        gzip.open(tweets, "rt", encoding="utf-8", newline="") as file,
        labels.open("w", encoding="utf-8", newline="") as label_file,
        texts.open("w", encoding="utf-8") as text_file,
    ):
        rows = csv.writer(label_file, lineterminator="\n")
        rows.writerow(["tweet_id", "topic", "class"])
        for number, row in enumerate(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)):
            if not row["task"].startswith("stance/"):
                others.append(row["text"])
                continue
            rows.writerow([number, row["task"].removeprefix("stance/"), row["label"]])
            text_file.write(json.dumps({"id": str(number), "text": row["text"]}, ensure_ascii=False) + "\n")
    return labels, texts, others


def headed(network: str, texts: Sequence[str], work: Path, batches: int) -> tuple[str, str]:
    """Return a network with a masked-LM head, and the head's origin."""
    out = work / "masked-lm"
    if (out / "config.json").is_file():
        return str(out), (out / "how.txt").read_text(encoding="utf-8")
    try:
        load_network(network, "masked_lm")
        return network, "the network's own"
    except ModelError:
        pass
    import transformers

    torch.manual_seed(1)
    _, tokenizer = load_network(network)
    model = transformers.AutoModelForMaskedLM.from_pretrained(network)
    model.base_model.requires_grad_(False)
    head = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(head, lr=1e-3)
    encoded = tokenizer(list(texts), truncation=True, max_length=64)["input_ids"]
    rng, losses = np.random.default_rng(1), []
    for _ in range(batches):
        chosen = [encoded[i] for i in rng.integers(len(encoded), size=32)]
        batch = tokenizer.pad({"input_ids": chosen}, return_tensors="pt")
        ids = batch["input_ids"]
        drawn = torch.rand(ids.shape) < 0.15
        hidden = drawn & ~torch.isin(ids, torch.tensor(tokenizer.all_special_ids))
        masked = ids.masked_fill(hidden, tokenizer.mask_token_id)
        with torch.no_grad():
            states = model.base_model(input_ids=masked, attention_mask=batch["attention_mask"])[0]
        loss = torch.nn.functional.cross_entropy(model.cls(states[hidden]), ids[hidden])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    how = (
        f"trained here ({batches:,} batches of 32 of {len(texts):,} tweets; cross-entropy"
        f" {np.mean(losses[:20]):.1f} at first, {np.mean(losses[-20:]):.1f} at last), the network itself untouched"
    )
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    (out / "how.txt").write_text(how, encoding="utf-8")
    return str(out), how


def config_of(options: argparse.Namespace, labels: Path, texts: Path, *overrides: str) -> Any:
    own = [
        f"data.reader.labels={labels}",
        f"data.reader.texts={texts}",
        f"data.splitter.held_out={HELD_OUT}",
        f"model.path={options.network}",
        f"data.reader.classes={json.dumps(CLASSES)}",
        f"trainer.batches.max_pairs={options.most}",
        f"trainer.epochs={options.epochs}",
        "model.max_post_tokens=64",
        "model.max_article_tokens=64",
        *overrides,
    ]
    return load_config(ROOT / "configs" / "papers" / "wrapresentations.jsonnet", overrides=own)


def trained(options: argparse.Namespace, name: str, labels: Path, texts: Path) -> SiameseModel:
    """Return the model after the last epoch of a run, trained unless WORK has it; dev selects nothing."""
    out = options.work / name
    if not (out / "done").is_file():
        began = time.monotonic()
        config = config_of(options, labels, texts)
        if build(Experiment, config).run(out).interrupted:
            raise SystemExit(f"{out}: interrupted")
        (out / "done").write_text(f"{time.monotonic() - began:.0f}", encoding="utf-8")
    model = load_model(out)
    assert isinstance(model, SiameseModel)
    model.load_state_dict(load_file(out / LAST))
    return model


@torch.no_grad()
def mean_and_first(model: Any, posts: Sequence[Post]) -> tuple[np.ndarray, np.ndarray]:
    """Return a transformer's embeddings by mean and by CLS pooling, computed together."""
    network = model.network.eval()
    found: tuple[list[Any], list[Any]] = ([], [])
    texts = [model.post_tokens(post).ids for post in posts]
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    for start in range(0, len(order), 64):
        padded = model.tokenizer.pad(
            {"input_ids": [texts[i].tolist() for i in order[start : start + 64]]}, return_tensors="pt"
        )
        states = network(**padded)[0]
        mask = padded["attention_mask"][..., None]
        found[0].append((states * mask).sum(1) / mask.sum(1))
        found[1].append(states[:, 0])
    back = np.argsort(order)
    mean, first = (torch.nn.functional.normalize(torch.cat(own), dim=1).numpy()[back] for own in found)
    assert np.allclose(mean[:20], model.post_vectors(posts[:20]), atol=1e-4)
    return mean, first


def posts_of(splits: Splits) -> dict[str, list[Post]]:
    """Return the posts to measure: a sample of train for the threshold, all of the other parts."""
    assert splits.dev
    assert splits.test
    some = np.random.default_rng(0).permutation(len(splits.train.posts))[:THRESHOLD_TEXTS]
    return {
        "train": [splits.train.posts[i] for i in some],
        "dev": splits.dev.posts,
        "test": splits.test.posts,
    }


def row(name: str, vectors: dict[str, np.ndarray], posts: dict[str, list[Post]]) -> str:
    """Return a line of the table: pairs of dev, pairs of the topic held out, classifiers."""
    classes = {part: _classes(own) for part, own in posts.items()}
    threshold = pair_figures(vectors["train"], classes["train"]).best.threshold
    figures = [pair_figures(vectors[part], classes[part], threshold) for part in ("dev", "test")]
    both = np.concatenate([vectors["dev"], vectors["test"]])
    topics = [post.extra["topic"] for part in ("dev", "test") for post in posts[part]]
    topic_wise = topic_wise_f1(both, classes["dev"] + classes["test"], topics)
    folds = [cross_validated_f1(vectors[part], classes[part]) for part in ("dev", "test")]
    cells = [cell for own in figures for cell in _cells(own)]
    cells += [f"{folds[0]:.1%}", f"{folds[1]:.1%}", f"{topic_wise[HELD_OUT]:.1%}", f"{topic_wise['all']:.1%}"]
    line = f"| {name} | " + " | ".join(cells) + " |"
    print(line, flush=True)
    return line


def _cells(figures: PairFigures) -> list[str]:
    best, given = figures.best, figures.given
    assert given is not None
    best_figures = f"{best.precision:.1%} / {best.recall:.1%} / {best.f1:.1%}"
    return [best_figures, f"{given.f1:.1%}", f"{figures.average_precision:.1%}"]


def _classes(posts: Sequence[Post]) -> list[str]:
    return [post.extra["class"] for post in posts]


def size(name: str, part: LinkedPosts) -> str:
    classes = _classes(part.posts)
    same, different = count_pairs(classes)
    each = ", ".join(f"{classes.count(one):,} {one}" for one in CLASSES)
    return f"- {name}: {len(classes):,} tweets ({each}); {2 * min(same, different):,} balanced pairs."


def moved(model: Any, old: Path, new: Path) -> float:
    """Return the mean cosine distance of augmented texts to their originals, by a model's embeddings."""
    changed = [row for row in map(json.loads, new.open(encoding="utf-8")) if row["text"] != row["original"]]
    changed = changed[:500]
    one = model.post_vectors([Post(row["id"], row["text"]) for row in changed])
    other = model.post_vectors([Post(row["id"], row["original"]) for row in changed])
    return float(1 - (one * other).sum(1).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name in ("tweets", "vectors", "work"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--network", required=True)
    parser.add_argument("--most", type=int, default=1600, help="maximum number of pairs per epoch")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--head-batches", type=int, default=100)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    labels, texts, others = written(options.tweets, options.work)
    splits = build(DataSource, config_of(options, labels, texts)["data"]).load()
    masked, how = headed(
        options.network,
        others + [post.text for post in splits.train.posts],
        options.work,
        options.head_batches,
    )
    augmented = options.work / "augmented.jsonl"
    everything = [post for part in (splits.train, splits.dev, splits.test) if part for post in part.posts]
    counts = augment(everything, masked, augmented, [HELD_OUT])
    untrained = build(Model, config_of(options, labels, texts)["model"])
    untrained.prepare(splits.train)
    distance = moved(untrained, texts, augmented)
    words = {
        "type": "siamese",
        "tokenizer": "social",
        "vectors": {"source": str(options.vectors)},
        "embedder": {"type": "word_vectors", "dim": 300},
        "encoder": "mean",
    }
    mean_of_words = build(Model, words)
    mean_of_words.prepare(splits.train)
    posts = posts_of(splits)
    vectors = {part: mean_of_words.post_vectors(own) for part, own in posts.items()}
    lines = [row("word vectors, mean", vectors, posts)]
    models = {
        "untrained": untrained,
        "trained on the tweets": trained(options, "plain", labels, texts),
        "trained on augmented tweets": trained(options, "augmented", labels, augmented),
    }
    for name, model in models.items():
        both = {part: mean_and_first(model, own) for part, own in posts.items()}
        for k, pooling in enumerate(("mean", "CLS")):
            lines.append(row(f"{name}, {pooling}", {part: own[k] for part, own in both.items()}, posts))
    seconds = [(options.work / name / "done").read_text(encoding="utf-8") for name in ("plain", "augmented")]
    assert splits.dev
    assert splits.test
    texts_of_report = [
        "# Tweets of one class brought together (WRAPresentations)\n",
        "Made by `python -m benchmarks.papers.wrapresentations --tweets TWEETS --network NETWORK --vectors VECTORS"
        f" --work WORK{'' if options.most == 1600 else f' --most {options.most}'}`"
        f" (Python {platform.python_version()}, torch {torch.__version__}).\n",
        NOTES.read_text(encoding="utf-8") if NOTES.is_file() else "",
        "| vectors | 40 % of the topics trained on: P / R / F1 at the best threshold | F1 at that of train | AP"
        f" | topic held out ({HELD_OUT}): P / R / F1 at the best threshold | F1 at that of train | AP"
        " | classifier, five folds of the 40 %: macro F1 | five folds of the topic held out"
        " | held out, learned from the 40 % | all topics in turn |",
        "|---" * 11 + "|",
        *lines,
        "",
        "The paper's, on TACO's augmented tweets, at the best threshold:\n",
        "| | P | R | F1 |",
        "|---|---|---|---|",
        *(f"| {name} | {p:.2f} % | {r:.2f} % | {f:.2f} % |" for name, (p, r, f) in PAPER.items()),
        "",
        size("train", splits.train),
        size("the 40 %", splits.dev),
        size("held out", splits.test),
        f"- Training: {options.epochs} epoch of {options.most:,} pairs in batches of 32, {' and '.join(seconds)} s.",
        f"- The head that guesses words: {how}.",
        f"- Augmentation: {counts.topic_words:,} topic words and {counts.entities:,} names, hashtags and mentions"
        f" replaced, {counts.filled:,} words guessed in {counts.texts - counts.kept:,} tweets; mean cosine distance to"
        f" the original {distance:.3f} by the untrained network (the paper's: about 0.08, by its own).",
    ]
    REPORT.write_text("\n".join(texts_of_report) + "\n", encoding="utf-8")
    print(REPORT.read_text(encoding="utf-8"))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
