"""Time from text to embedding, tokenization included: linker's models and MiniLM through sentence-transformers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from benchmarks.measurement import in_turn, say
from benchmarks.minilm import load_minilm
from benchmarks.speed.figures import Amounts, Results
from benchmarks.speed.workloads import NATIVE, Texts, siamese, star_encoder, word_vectors
from linker.common.errors import ModelError
from linker.modules.kernels.dispatch import use_kernels

MINILM = "MiniLM"
# MiniLM's own limit, in word pieces; ours are also measured cut here, in words.
MINILM_TOKENS = 256


def end_to_end(texts: Texts, names: tuple[str, ...], amounts: Amounts, results: Results) -> None:
    """Fill in `end_to_end`, `end_to_end_counts` and `unknown_words`.

    Every round has posts and articles that nobody saw before, so that caches of words hold no more than in use. The
    vocabulary has the words that stand twice in the other texts; the model makes up vectors for the rest.
    """
    rounds = amounts.repeats + 1
    articles = min(amounts.encoded_articles // 2, len(texts.articles) // (rounds + 1))
    posts = min(amounts.encoded_posts // 2, len(texts.posts) // (rounds + 1))
    vocabulary = texts.vocabulary(slice(rounds * articles, None), slice(rounds * posts, None), 2)
    results.end_to_end_counts = {"articles": articles, "posts": posts}
    tokens = [token for text in texts.post_tokens[: rounds * posts] for token in text]
    results.unknown_words = sum(token not in vocabulary for token in tokens) / len(tokens)

    table = word_vectors(len(vocabulary))
    models = {cut: siamese(star_encoder(table, 0.0), vocabulary, table) for cut in (1000, MINILM_TOKENS)}
    models[MINILM_TOKENS].max_article_tokens = MINILM_TOKENS

    def ours(name: str, cut: int, posts_too: bool, count: int) -> Callable[[int], object]:
        model = models[cut]
        tokens = model.post_tokens if posts_too else model.article_tokens

        def encode(number: int) -> object:
            chosen: Sequence[Any] = texts.posts if posts_too else texts.articles
            with use_kernels("native" if name == NATIVE else "plain"):
                # Not a list: the model tokenizes ahead while it encodes.
                return model.encode(map(tokens, chosen[number * count : (number + 1) * count]))

        return encode

    whole = {name: ours(name, 1000, False, articles) for name in names}
    cut = {
        f"{name}, cut at {MINILM_TOKENS} words": ours(name, MINILM_TOKENS, False, articles) for name in names
    }
    tasks = {
        "posts": {name: ours(name, 1000, True, posts) for name in names},
        "articles": whole | cut,
    }
    try:
        other = load_minilm()
    except (ImportError, ModelError) as error:
        results.minilm_problem = str(error)
        say(f"MiniLM is left out: {error}")
    else:
        strings = {
            "posts": [post.text for post in texts.posts],
            "articles": [article.full_text for article in texts.articles],
        }
        for kind, count in (("posts", posts), ("articles", articles)):
            tasks[kind][MINILM] = partial(_minilm_round, other, strings[kind], count)
    for kind, chosen in tasks.items():
        label = f"{kind} from text to vector, {results.end_to_end_counts[kind]} a round"
        results.end_to_end[kind] = in_turn(label, chosen, amounts.repeats)


def _minilm_round(model: Any, strings: list[str], count: int, number: int) -> object:
    chosen = strings[number * count : (number + 1) * count]
    return model.encode(chosen, normalize_embeddings=True, show_progress_bar=False)
