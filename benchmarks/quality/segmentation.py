"""Words and pairs of characters: ``python -m benchmarks.quality.segmentation --data DATA``.

Prints, as Markdown, how well BM25 and TF-IDF rank posts in scripts that do not separate words, or that write vowels as
marks, by what counts as a word.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from linker.data import read_articles, read_posts
from linker.data.characters import MARKS, folded, plain
from linker.data.types import Article, LinkedPosts, Post
from linker.evaluation.evaluate import evaluate
from linker.models.bm25 import BM25Model
from linker.models.features.words import lexical_words
from linker.models.tfidf import TfidfModel

Split = Callable[[str], list[str]]

_SCRIPTS = {"Chinese": "\u3400-\u9fff", "Thai": "\u0e00-\u0e7f", "Korean": "\uac00-\ud7af"}
_LANGUAGES = {"Thai": "th", "Hindi": "hi", "Marathi": "mr", "Punjabi": "pa", "Tamil": "ta", "Arabic": "ar"}
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_CHARACTER = re.compile(rf".[{MARKS}]*", re.DOTALL)


def former_words(text: str) -> list[str]:
    """Return the words that lexical models matched before: split at marks, with a run of a script as one word."""
    return _WORD.findall(text.lower())


def characters(text: str) -> list[str]:
    """Return the letters of a run, each with its marks."""
    return _CHARACTER.findall(text)


def pairs(text: str) -> list[str]:
    """Return the pairs of adjacent letters with their marks; a single letter itself."""
    found = characters(text)
    return [first + second for first, second in pairwise(found)] or found


def code_points(text: str) -> list[str]:
    """Return the pairs of adjacent code points."""
    return [first + second for first, second in pairwise(text)] or [text]


def triples(text: str) -> list[str]:
    """Return the runs of three letters with their marks."""
    found = characters(text)
    return ["".join(found[i : i + 3]) for i in range(max(1, len(found) - 2))]


def segmented(script: str, grams: Split) -> Split:
    """Return a function that splits runs of a script with `grams` and leaves other words whole."""
    run = re.compile(f"[{script}]+")

    def split(text: str) -> list[str]:
        text = folded(plain(text))
        spaced = run.sub(lambda match: f" {' '.join(grams(match[0]))} ", text)
        return re.findall(rf"[^\W_]+(?:[{MARKS}]+[^\W_]*)*", spaced)

    return split


def splits_of(language: str) -> dict[str, Split]:
    """Return what may count as a word in a language, by its name in the table."""
    found: dict[str, Split] = {"before": former_words}
    if language in _SCRIPTS:
        script = _SCRIPTS[language]
        found |= {
            "spaces": segmented(script, lambda run: [run]),
            "letters": segmented(script, characters),
            "pairs": segmented(script, pairs),
            "letters and pairs": segmented(script, lambda run: [*characters(run), *pairs(run)]),
            "triples": segmented(script, triples),
        }
        if language == "Thai":
            found["pairs of code points"] = segmented(script, code_points)
        if language == "Korean":
            found["spaces and pairs"] = segmented(script, lambda run: [run, *pairs(run)])
    return found | {"lexical_words": lambda text: lexical_words(text, "none")}


def sets(data: Path) -> Iterator[tuple[str, LinkedPosts]]:
    """Yield languages and their articles and posts."""
    claims = data / "checkthat25_claims"
    everything = read_articles(str(claims / "articles.jsonl.gz")), read_posts(str(claims / "posts.jsonl.gz"))
    for language, code in _LANGUAGES.items():
        posts = [post for post in everything[1] if post.language == code]
        linked = {id_ for post in posts for id_ in post.article_ids}
        yield language, LinkedPosts([article for article in everything[0] if article.id in linked], posts)
    korean = data / "korean_news_comments"
    yield (
        "Korean",
        LinkedPosts(
            read_articles(str(korean / "articles.jsonl.gz")), read_posts(str(korean / "posts.jsonl.gz"))
        ),
    )
    yield "Chinese", halves(read_posts(str(data / "facebook_xling_zh_tl_en" / "posts.jsonl.gz")))


def halves(posts: Sequence[Post]) -> LinkedPosts:
    """Return messages in Chinese cut in two at a mark near the middle: the first half is the article of the second."""
    articles, rest = [], []
    for post in posts:
        if post.language != "zh":
            continue
        cuts = [match.end() for match in re.finditer(r"[。！？；，,.!?\s]", post.text)]
        middle = min(cuts, key=lambda cut: abs(cut - len(post.text) / 2), default=0)
        if 10 <= middle <= len(post.text) - 10:
            articles.append(Article(post.id, post.text[:middle]))
            rest.append(Post(post.id, post.text[middle:], article_ids=(post.id,)))
    return LinkedPosts(articles, rest)


def figures(linked: LinkedPosts, split: Split) -> list[float]:
    """Return the MAP of BM25 and of TF-IDF in percent, each article ranked alone."""
    numbers: dict[str, str] = {}

    def coded(text: str) -> str:  # words that `lexical_words` leaves alone
        return " ".join(numbers.setdefault(word, f"w{len(numbers)}") for word in split(text))

    articles = [Article(article.id, coded(article.full_text)) for article in linked.articles]
    posts = [Post(post.id, coded(post.text), article_ids=post.article_ids) for post in linked.posts]
    measured = LinkedPosts(articles, posts)
    models = BM25Model(stop_words="none"), TfidfModel(stop_words="none", min_words=3)
    return [100 * evaluate(model.score_independently(articles, posts), measured)["MAP"] for model in models]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    print("| language | articles | posts | words | BM25 | TF-IDF |\n|---|---|---|---|---|---|")
    for language, linked in sets(parser.parse_args().data):
        for name, split in splits_of(language).items():
            bm25, tfidf = figures(linked, split)
            counts = f"{len(linked.articles):,} | {len(linked.posts):,}"
            print(f"| {language} | {counts} | {name} | {bm25:.1f} | {tfidf:.1f} |", flush=True)


if __name__ == "__main__":
    main()
