"""Posts per second of every tokenizer, on one core; NLTK's TweetTokenizer beside them where it is installed.

    python benchmarks/tokenizing.py [--posts FILE] [--rounds 7]

The fastest of the rounds counts. The first round of `social`, while it gets to know the words, is shown apart.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from linker.data import read_posts
from linker.data.tokenizers.glove_twitter import GloveTwitterTokenizer
from linker.data.tokenizers.simple import BasicEnglishTokenizer, WhitespaceTokenizer
from linker.data.tokenizers.social import SocialTokenizer

Tokenize = Callable[[str], list[str]]


def ways() -> dict[str, Tokenize]:
    found: dict[str, Tokenize] = {
        "social": SocialTokenizer().tokenize,
        "glove_twitter": GloveTwitterTokenizer().tokenize,
        "basic_english": BasicEnglishTokenizer().tokenize,
        "whitespace": WhitespaceTokenizer().tokenize,
    }
    try:
        from nltk.tokenize import TweetTokenizer
    except ImportError:
        return found
    return found | {"nltk TweetTokenizer": TweetTokenizer(preserve_case=False, reduce_len=True).tokenize}


def seconds(tokenize: Tokenize, texts: list[str]) -> float:
    start = time.process_time()
    for text in texts:
        tokenize(text)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--posts", default="data/posts.jsonl")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    texts = [post.text for post in read_posts(arguments.posts)]
    # Enough work for the clock, whatever the size of the file.
    texts *= max(1, 20_000 // len(texts))
    print(f"{len(texts):,} posts, {sum(map(len, texts)) / len(texts):.0f} characters on average")
    for name, tokenize in ways().items():
        rounds = [seconds(tokenize, texts) for _ in range(arguments.rounds)]
        tokens = sum(len(tokenize(text)) for text in texts) / len(texts)
        print(
            f"{name:20} {len(texts) / min(rounds):>9,.0f} posts/s  {tokens:.1f} tokens each"
            f"  (first round {len(texts) / rounds[0]:,.0f})"
        )


if __name__ == "__main__":
    main()
