"""Measure how well WRAPresentations groups tweets by class across topics; write results/wrapresentations.md.

    python -m benchmarks.papers.wrapresentations --tweets TWEETS --vectors VECTORS --masked MASKED --work WORK

TWEETS is the file tweeteval.tsv.gz (task, split, label, text), VECTORS word vectors. The five targets of the stance
task are the topics, its labels the classes; each topic is held out in turn, and 40 % of each class of the others are
for testing. The threshold comes from training tweets. A classifier of words shows what of a class is known of another
topic by its labels. The network is that of the bundled model; --network takes another. The words of the augmentation
come from the masked-LM head of MASKED, a Hugging Face folder or name; if it has none, one is trained here on the
tweets, with the network itself frozen. WORK receives everything that is made; existing parts are reused, and the page
is written after every model.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file

from benchmarks.papers.wrapresentations_data import Labeled, headed, mean_and_first, moved, written
from benchmarks.papers.wrapresentations_metrics import (
    cross_validated_f1,
    pair_figures,
    precision_interval,
    topic_wise_f1,
)
from linker.common.files import atomic_write, write_json
from linker.config import build, load_config
from linker.contrib.wrapresentations.augmentation import augment
from linker.contrib.wrapresentations.batches import count_pairs
from linker.data.data_source import DataSource
from linker.data.splitters.splitter import Splits
from linker.data.types import Post
from linker.models.files.archive import load_model
from linker.models.model import Model
from linker.models.pretrained import FOLDERS
from linker.models.siamese.siamese import SiameseModel
from linker.training.experiment import LAST, Experiment

ROOT = Path(__file__).resolve().parents[2]
NOTES, REPORT = (
    Path(__file__).parent / "results" / name for name in ("wrapresentations-notes.md", "wrapresentations.md")
)
TOPICS = ("abortion", "climate", "feminist", "hillary", "atheism")
# Of the paper's tables: precision, recall, F1.
PAPER = {
    "BERTweet, CLS": (50.00, 100.00, 66.67),
    "augmented BERTweet, CLS": (65.69, 86.66, 74.73),
    "WRAPresentations, CLS": (66.00, 84.32, 74.04),
    "WRAPresentations, mean-trained, CLS-tested": (63.05, 88.91, 73.78),
}
# Texts of the train part whose pairs give the threshold, and pairs of a part that are measured.
THRESHOLD_TEXTS, MEASURED_PAIRS = 600, 200_000
HEAD = (
    "| held out | vectors | trained topics: F1 at the threshold of train | AP | best F1 | AP, CLS | held-out topic: F1"
    " at the threshold of train | AP | best F1 | AP, CLS | classifier: trained topics"
    " | held-out topic |"
)


TACO = Labeled(
    "sample in TACO's format",
    ROOT / "data" / "taco" / "labels.csv",
    ROOT / "data" / "taco" / "texts.jsonl",
    ("Reason", "Statement", "Notification", "None"),
)


def config_of(options: argparse.Namespace, data: Labeled, held_out: str, texts: Path, *overrides: str) -> Any:
    """Return the config of a run."""
    own = [
        f"data.reader.labels={data.labels}",
        f"data.reader.texts={texts}",
        f"data.splitter.held_out={json.dumps(held_out)}",
        f"model.path={options.network}",
        f"data.reader.classes={json.dumps(data.classes)}",
        f"trainer.batches.max_pairs={options.pairs // options.epochs}",
        f"trainer.epochs={options.epochs}",
        f"trainer.optimizer.lr={options.rate}",
        "trainer.precision=auto",
        "trainer.checkpoint_seconds=120",
        "model.precision=auto",
        f"model.max_post_tokens={options.max_tokens}",
        f"model.max_article_tokens={options.max_tokens}",
        *overrides,
    ]
    return load_config(ROOT / "configs" / "papers" / "wrapresentations.jsonnet", overrides=own)


def trained(out: Path, config: Any) -> SiameseModel:
    """Return the model after the last epoch of a run, trained unless it exists; dev selects nothing."""
    if not (out / "done").is_file():
        began = time.process_time()
        if build(Experiment, config).run(out, resume=out.with_name(f"{out.name}-log").is_dir()).stopped_by:
            raise SystemExit(f"{out}: interrupted; give the same command to resume")
        (out / "done").write_text(f"{time.process_time() - began:.0f}", encoding="utf-8")
    model = load_model(out)
    assert isinstance(model, SiameseModel)
    model.load_state_dict(load_file(out / LAST))
    return model


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


def figures_of(
    vectors: dict[str, np.ndarray],
    first: dict[str, np.ndarray],
    posts: dict[str, list[Post]],
) -> Any:
    """Return the figures of a model as JSON: pairs of both parts, and classifiers.

    Args:
        vectors: part → embeddings by mean pooling, float, texts × dim.
        first: part → those by CLS pooling, or the same.
        posts: part → its texts.
    """
    classes = {part: _classes(own) for part, own in posts.items()}
    threshold = pair_figures(vectors["train"], classes["train"]).best.threshold
    found: dict[str, Any] = {}
    for part in ("dev", "test"):
        own = pair_figures(vectors[part], classes[part], threshold, max_pairs=MEASURED_PAIRS)
        cls = pair_figures(first[part], classes[part], max_pairs=MEASURED_PAIRS)
        assert own.given is not None
        found[part] = {
            "F1": own.given.f1,
            "AP": own.average_precision,
            "interval": precision_interval(vectors[part], classes[part], max_pairs=MEASURED_PAIRS),
            "best F1": own.best.f1,
            "AP, CLS": cls.average_precision,
        }
    found["dev"]["classifier"] = cross_validated_f1(vectors["dev"], classes["dev"])
    both = np.concatenate([vectors["dev"], vectors["test"]])
    origin = ["dev"] * len(classes["dev"]) + ["test"] * len(classes["test"])
    found["test"]["classifier"] = topic_wise_f1(both, classes["dev"] + classes["test"], origin)["test"]
    return found


def _classes(posts: Sequence[Post]) -> list[str]:
    return [post.extra["class"] for post in posts]


def row(held_out: str, name: str, figures: Any) -> str:
    """Return a line of the table."""
    cells = []
    for part in ("dev", "test"):
        own = figures[part]
        low, high = own["interval"]
        cells.append(f"{own['F1']:.2%}")
        cells += [
            f"{own['AP']:.1%} [{low:.1%}, {high:.1%}]",
            f"{own['best F1']:.2%}",
            f"{own['AP, CLS']:.1%}",
        ]
    cells += [f"{figures[part]['classifier']:.1%}" for part in ("dev", "test")]
    return f"| {held_out} | {name} | " + " | ".join(cells) + " |"


def size(held_out: str, splits: Splits) -> str:
    """Return a line about the texts of a split."""
    parts = []
    for name, part in (("train", splits.train), ("the 40 %", splits.dev), ("held out", splits.test)):
        assert part is not None
        classes = _classes(part.posts)
        parts.append(f"{name} {len(classes):,} tweets, {2 * min(count_pairs(classes)):,} balanced pairs")
    return f"- {held_out}: {'; '.join(parts)}."


class Topic:
    """One split: the models that are trained and measured on it.

    Args:
        options: those of the command.
        data: the tweets.
        held_out: the topic that is held out.
        masked: network with a masked-LM head for the augmentation.
    """

    def __init__(self, options: argparse.Namespace, data: Labeled, held_out: str, masked: str) -> None:
        self.options, self.data, self.held_out, self.masked = options, data, held_out, masked
        self.splits: Splits = build(DataSource, config_of(options, data, held_out, data.texts)["data"]).load()
        self.posts = posts_of(self.splits)
        self.work = options.work / f"{data.name.split()[0]}-{held_out}"
        self.work.mkdir(exist_ok=True)
        self.facts: dict[str, Any] = {}

    def rows(self) -> dict[str, Callable[[], Any]]:
        """Return the models of the table, each with the function that makes and measures it."""
        return {
            "classifier of words": lambda: self._kept("classifier", self._classifier),
            "word vectors": lambda: self._kept("words", self._words),
            "untrained": lambda: self._kept("untrained", self._untrained),
            "trained": lambda: self._kept("plain", lambda: self._trained("plain", self.data.texts)),
            "trained on augmented": lambda: self._kept(
                "augmented", lambda: self._trained("augmented", self._augmented())
            ),
        }

    def _kept(self, name: str, made: Callable[[], Any]) -> Any:
        """Return the figures of a model, from WORK if they are there."""
        file = self.work / f"{name}-{self.options.pairs}.json"
        if not file.exists():
            write_json(file, made())
        return json.loads(file.read_text(encoding="utf-8"))

    def _classifier(self) -> Any:
        """Measure pairs by the cosine of their class probabilities: TF-IDF, logistic regression."""
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        model = make_pipeline(
            TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True),
            LogisticRegression(max_iter=1000, class_weight="balanced"),
        )
        train = self.splits.train.posts
        model.fit([post.text for post in train], _classes(train))
        vectors = {part: model.predict_proba([post.text for post in own]) for part, own in self.posts.items()}
        return figures_of(vectors, vectors, self.posts)

    def _words(self) -> Any:
        config = {
            "type": "siamese",
            "tokenizer": "social",
            "vectors": {"source": str(self.options.vectors)},
            "embedder": {"type": "word_vectors"},
            "encoder": "mean",
        }
        model = build(Model, config)
        model.prepare(self.splits.train)
        vectors = {part: model.post_vectors(own) for part, own in self.posts.items()}
        return figures_of(vectors, vectors, self.posts)

    def _untrained(self) -> Any:
        model = build(Model, config_of(self.options, self.data, self.held_out, self.data.texts)["model"])
        model.prepare(self.splits.train)
        return self._measured(model)

    def _augmented(self) -> Path:
        out = self.work / "augmented.jsonl"
        if not out.exists():
            parts = (self.splits.train, self.splits.dev, self.splits.test)
            counts = augment(
                [post for part in parts if part for post in part.posts], self.masked, out, [self.held_out]
            )
            model = build(Model, config_of(self.options, self.data, self.held_out, out)["model"])
            model.prepare(self.splits.train)
            write_json(
                self.work / "augmented.json",
                counts._asdict() | {"distance": moved(model, self.data.texts, out)},
            )
        return out

    def _trained(self, name: str, texts: Path) -> Any:
        config = config_of(self.options, self.data, self.held_out, texts)
        model = trained(self.work / f"{name}-{self.options.pairs}-run", config)
        return self._measured(model)

    def _measured(self, model: Any) -> Any:
        both = {part: mean_and_first(model, own) for part, own in self.posts.items()}
        means, firsts = ({part: own[k] for part, own in both.items()} for k in (0, 1))
        return figures_of(means, firsts, self.posts)

    def augmentation(self) -> str | None:
        """Return a line about the augmentation, if it was made."""
        file = self.work / "augmented.json"
        if not file.exists():
            return None
        facts = json.loads(file.read_text(encoding="utf-8"))
        return (
            f"- Augmentation without {self.held_out}: {facts['topic_words']:,} topic words and"
            f" {facts['entities']:,} names, hashtags and mentions replaced, {facts['filled']:,} words guessed in"
            f" {facts['texts'] - facts['kept']:,} tweets; mean cosine distance to the original"
            f" {facts['distance']:.3f} by the untrained network (the paper's: about 0.08, by its own)."
        )


def report(
    options: argparse.Namespace, topics: Sequence[Topic], found: dict[tuple[str, str], Any], how: str
) -> str:
    """Return the page of the models that are measured."""
    seen = [topic for topic in topics if any(held_out == topic.held_out for held_out, _ in found)]
    lines = [
        "# Tweets of one class brought together (WRAPresentations)\n",
        "Made by `python -m benchmarks.papers.wrapresentations --tweets TWEETS --vectors VECTORS --masked MASKED --work"
        f" WORK` (Python {platform.python_version()}, torch {torch.__version__}).\n",
        NOTES.read_text(encoding="utf-8") if NOTES.is_file() else "",
        HEAD,
        "|---" * HEAD.count(" | ") + "|---|",
        *(row(held_out, name, figures) for (held_out, name), figures in found.items()),
        "",
        "The paper's, on TACO's augmented tweets, at the best threshold:\n",
        "| | P | R | F1 |",
        "|---|---|---|---|",
        *(f"| {name} | {p:.2f} % | {r:.2f} % | {f:.2f} % |" for name, (p, r, f) in PAPER.items()),
        "",
        *(size(topic.held_out, topic.splits) for topic in seen),
        f"- Training: {options.pairs:,} pairs in {options.epochs} epoch{'s' if options.epochs > 1 else ''}, batches of"
        f" 32 pairs, learning rate {options.rate:g}, at most"
        f" {options.max_tokens} tokens.",
        f"- The head that guesses words: {how}.",
        *filter(None, (topic.augmentation() for topic in seen)),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Train and measure, topic after topic; write the page after every model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name in ("tweets", "vectors", "work"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    bundled = FOLDERS["best"] / "part-0" / "transformer"
    parser.add_argument("--network", default=str(bundled), help="network to train (default: the bundled one)")
    parser.add_argument("--masked", required=True)
    parser.add_argument("--pairs", type=int, default=100_000, help="number of training pairs of each model")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--rate", type=float, default=1e-4, help="learning rate")
    parser.add_argument("--max-tokens", type=int, default=40, help="texts are truncated to this many tokens")
    parser.add_argument("--head-batches", type=int, default=100)
    parser.add_argument(
        "--topics", type=int, default=len(TOPICS), help="number of topics to hold out, from the first on"
    )
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    tweets, others = written(options.tweets, options.work)
    stance = [json.loads(line)["text"] for line in tweets.texts.open(encoding="utf-8")]
    masked, how = headed(options.masked, others + stance, options.work, options.head_batches)
    topics = [Topic(options, tweets, held_out, masked) for held_out in TOPICS[: options.topics]]
    topics.append(Topic(options, TACO, "eastbridge", masked))
    found: dict[tuple[str, str], Any] = {}
    # The sample first: it takes seconds.
    for topic in topics[-1:] + topics[:-1]:
        for name, figures in topic.rows().items():
            found[topic.held_out, name] = figures()
            print(row(topic.held_out, name, found[topic.held_out, name]), flush=True)
            with atomic_write(REPORT) as file:
                file.write(report(options, topics, found, how))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
