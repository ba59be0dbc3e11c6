"""scripts/finetune_multilingual.py: linked texts come closer than others, and token embeddings stay."""

import json
from pathlib import Path

import numpy as np

from linker.data.types import LinkedPosts
from linker.models.siamese.transformer import TransformerModel
from scripts.finetune_multilingual import FineTuning, titled
from scripts.multilingual_heads import sampled
from tests.helpers.tiny_transformers import tiny


def test_links_come_closer_and_token_embeddings_stay(tmp_path: Path) -> None:
    rows = [{"id": f"{i}", "article_id": f"{i}", "title": "ab" * i, "text": "zy" * i} for i in range(1, 10)]
    for name in ("articles", "posts"):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    part = TransformerModel(str(tiny("bert", tmp_path / "network")), pooling="mean")
    part.prepare(LinkedPosts([], []))
    tuning = FineTuning(part.eval(), {"links": sampled(tmp_path)})
    words = part.network.get_input_embeddings().weight
    source, before, leads = tuning.sources[0], words.clone(), []
    for steps in (0, 12):
        tuning.train(steps)
        cosines = part.encode(source.articles) @ part.encode(source.posts).T
        leads.append(np.diag(cosines).mean() - cosines.mean())
    assert leads[1] > leads[0] + 1e-4
    assert (words == before).all()


def test_titles_are_posts_on_the_texts_of_their_articles(tmp_path: Path) -> None:
    texts = [("a b c d", "e " * 12 + "f"), ("a b c", "g " * 13), ("a b c d e", "h " * 11)]
    rows = [{"id": f"{i}", "title": title, "text": text} for i, (title, text) in enumerate(texts)]
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, rows)))
    linked = titled(tmp_path / "items.jsonl")
    (article,), (post,) = linked.articles, linked.posts
    assert (article.title, article.text, post.text, post.article_ids) == ("", *texts[0][::-1], (article.id,))
