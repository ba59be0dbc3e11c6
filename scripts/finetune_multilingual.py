"""Fine-tune multilingual-e5-small on links of several sources, for the multilingual part of `best`.

    python scripts/finetune_multilingual.py E5 OUT --links DIR DIR … --titles FILE FILE
    python scripts/make_pretrained.py multilingual OUT --texts typical.txt --links DIR DIR …

E5 is a folder with multilingual-e5-small. Each DIR holds articles and posts with links. A FILE of articles is a source,
too: their titles are taken for posts on their texts. Trained without a DIR, the result shows what the network does for
posts of a kind that it has not seen. Token embeddings are not trained, so that they can be quantized as before.
"""

from __future__ import annotations

import argparse
import copy
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from linker.common.console import info, progress_bar
from linker.data import read_articles
from linker.data.types import Article, LinkedPosts, Post
from linker.data.vocabulary import EncodedText
from linker.models.siamese.hugging_face import save_network
from linker.models.siamese.transformer import TransformerModel
from linker.modules.precision import lower_type
from scripts.make_pretrained import MULTILINGUAL_CONFIG
from scripts.multilingual_heads import info_nce, sampled

_WARMUP, _RATE, _DECAY, _TEMPERATURE = 3, 6e-5, 0.01, 0.05
_SOURCES_PER_STEP, _STORIES, _SIMILAR = 4, 24, 3
_NEIGHBORS, _POSTS_OF_MEANS = 12, 200
# Centered articles that are more similar than this are on the same: posts on one are no negatives of the other.
_SAME = 0.88
# Weight of staying near the embeddings of the network before: languages without links keep theirs.
_STAYING = 3.0
_ARTICLE_TOKENS = (24, 48, 96, 128)
_TITLES, _TITLE_WORDS, _TEXT_WORDS, _CHARACTERS = 1_500, 4, 12, 2_000


class Source(NamedTuple):
    """Articles and posts of a source.

    Attributes:
        articles: tokens of each.
        posts: tokens of each.
        relevance: bool, articles × posts.
        centered: embeddings of the articles by the network before, centered, of unit length: articles × dim.
        similar: numbers of the most similar articles of each: articles × 12, or fewer.
    """

    articles: list[EncodedText]
    posts: list[EncodedText]
    relevance: Tensor
    centered: Tensor
    similar: Tensor


class FineTuning:
    """A network in training.

    Args:
        part: the model whose network is trained.
        linked: articles and posts of each source, by its name.
    """

    def __init__(self, part: TransformerModel, linked: Mapping[str, LinkedPosts]) -> None:
        self.part, self.before = part, copy.deepcopy(part)
        self.before.precision = "auto"
        self.before.requires_grad_(False)
        self.sources, means = [], []
        for name, source in linked.items():
            articles = self._tokens(article.full_text for article in source.articles)
            posts = self._tokens(post.text for post in source.posts)
            info(f"{name}: {len(articles):,} articles, {len(posts):,} posts")
            vectors = self._embedded(articles)
            means.append((vectors.mean(dim=0), self._embedded(posts[:_POSTS_OF_MEANS]).mean(dim=0)))
            centered = normalize(vectors - means[-1][0], dim=1)
            similar = (centered @ centered.T).topk(min(_NEIGHBORS + 1, len(centered)), dim=1).indices[:, 1:]
            relevance = torch.from_numpy(source.relevance())
            self.sources.append(Source(articles, posts, relevance, centered, similar))
        self.means = [torch.stack(some).mean(dim=0) for some in zip(*means)]

    def _tokens(self, texts: Iterable[str]) -> list[EncodedText]:
        return [self.part.post_tokens(Post("", MULTILINGUAL_CONFIG["prefix"] + text)) for text in texts]

    def _embedded(self, texts: Sequence[EncodedText]) -> Tensor:
        return torch.from_numpy(self.before.encode(texts, "embedding"))

    def train(self, steps: int) -> None:
        """Take steps, of pairs from four sources each."""
        chance = random.Random(0)
        trained = [p for name, p in self.part.network.named_parameters() if "word_embeddings" not in name]
        optimizer = torch.optim.AdamW(trained, lr=_RATE, weight_decay=_DECAY, betas=(0.9, 0.98))
        lower = lower_type("auto", self.part.device)
        with progress_bar() as progress:
            bar = progress.add_task("training", total=steps)
            for number in range(steps):
                optimizer.param_groups[0]["lr"] = (
                    _RATE * min(1, (number + 1) / _WARMUP) * (1 - number / steps)
                )
                optimizer.zero_grad()
                limit, losses = chance.choice(_ARTICLE_TOKENS), []
                for source in chance.sample(self.sources, min(_SOURCES_PER_STEP, len(self.sources))):
                    with torch.autocast(self.part.device.type, lower, enabled=lower is not None):
                        loss = self._loss(source, limit, chance)
                    # Source by source, so that the activations of one are in memory.
                    (loss / _SOURCES_PER_STEP).backward()
                    losses.append(loss.item())
                torch.nn.utils.clip_grad_norm_(trained, 1.0)
                optimizer.step()
                progress.update(bar, advance=1, description=f"training  loss {np.mean(losses):.3f}")
                if not (number + 1) % 4:
                    info(f"step {number + 1} of {steps}: loss {np.mean(losses):.3f}")

    def _loss(self, source: Source, limit: int, chance: random.Random) -> Tensor:
        seeds = [chance.randrange(len(source.articles)) for _ in range(_STORIES)]
        number = min(_SIMILAR, source.similar.shape[1])
        near = (chance.sample(source.similar[seed].tolist(), number) for seed in seeds)
        rows = sorted({*seeds, *(row for some in near for row in some)})
        columns = [chance.choice(source.relevance[row].nonzero()[:, 0].tolist()) for row in rows]
        articles = [beginning(source.articles[row], limit) for row in rows]
        posts = [source.posts[column] for column in columns]
        relevant = source.relevance[rows][:, columns]  # (articles, posts)
        centered = source.centered[rows]
        same = centered @ centered.T > _SAME
        after = [self.part(texts).float() for texts in (articles, posts)]
        mapped = [normalize(vectors - mean, dim=1) for vectors, mean in zip(after, self.means)]
        loss = info_nce(mapped[0], mapped[1], relevant, _TEMPERATURE, same & ~relevant)
        before = self._embedded(articles + posts)
        return loss + _STAYING * (1 - (torch.cat(after) * before).sum(dim=1)).mean()


def titled(file: Path) -> LinkedPosts:
    """Read up to 1,500 articles of a file, and their titles as posts; short texts and titles are left out."""
    titles = {
        article.text: article.title
        for article in read_articles(str(file))
        if len(article.title.split()) >= _TITLE_WORDS and len(article.text.split()) >= _TEXT_WORDS
    }
    texts = {title: text for text, title in titles.items()}  # no title and no text twice
    pairs = list(texts.items())
    pairs = random.Random(0).sample(pairs, min(_TITLES, len(pairs)))
    articles = [Article(str(i), text[:_CHARACTERS]) for i, (_, text) in enumerate(pairs)]
    return LinkedPosts(
        articles, [Post(str(i), title, article_ids=(str(i),)) for i, (title, _) in enumerate(pairs)]
    )


def beginning(text: EncodedText, limit: int) -> EncodedText:
    """Return the first tokens of a text and its last, which ends it."""
    return text if len(text.ids) <= limit else EncodedText(np.append(text.ids[: limit - 1], text.ids[-1]), ())


def main() -> None:
    """Read the network and the links, train, and write the network."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", help="folder of multilingual-e5-small")
    parser.add_argument("out", type=Path, help="folder to write")
    parser.add_argument("--links", type=Path, nargs="+", required=True, help="folders of articles and posts")
    parser.add_argument("--titles", type=Path, nargs="+", default=[], help="files of articles with titles")
    parser.add_argument("--steps", type=int, default=26, help="training steps (default: 26)")
    options = parser.parse_args()
    torch.manual_seed(0)
    part = TransformerModel(options.source, normalization=MULTILINGUAL_CONFIG["normalization"])
    part.prepare(LinkedPosts([], []))
    part.eval()  # without dropout
    linked = {folder.name: sampled(folder) for folder in options.links}
    linked |= {str(file): titled(file) for file in options.titles}
    FineTuning(part, linked).train(options.steps)
    save_network(part.network, part.tokenizer, options.out, "mean", 512)
    info(f"wrote {options.out}")


if __name__ == "__main__":
    main()
