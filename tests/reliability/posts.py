"""Posts that are built to take for ever, to fill the memory, or to confuse what reads their text."""

import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from linker.common.errors import LinkerError
from tests.reliability.harness import LIMITED, ROOT, SAMPLE, START, Tally, environment, run, write_rows

# CPU seconds for a text of a million characters in one function, and for a command.
_SECONDS, _COMMAND_SECONDS = 20.0, 60.0
_GIGABYTES = 6
# All texts of a million characters and more are given to the commands as well; of shorter ones this number, at random.
_LONG, _OF_SHORT = 1_000_000, 5
_HOST = "https://a.example/"
_RANK = ("rank", "--posts", "posts.jsonl")
_COMMANDS = {
    "rank with best": (*_RANK, *SAMPLE[:2], "--out", "ranked.csv"),
    "rank with distilled": (*_RANK, *SAMPLE[:2], "--model", "distilled", "--explain", "--format", "jsonl"),
    "rank with bm25": (*_RANK, *SAMPLE[:2], "--model", "bm25"),
    "rank for the text": ("rank", "--article", "text.txt", "--posts", SAMPLE[3], "--top", "3"),
    "corpus build": ("corpus", "build", "posts.jsonl", "--out", "corpus", "--model", "distilled"),
    "annotate start": (*START, "--posts", "posts.jsonl"),
    "mine links": ("mine", "links", "posts.jsonl", "--out", "mined"),
}


def texts(size: int) -> dict[str, str]:
    """Return texts of about `size` characters that may take quadratic time or much memory."""

    def times(text: str) -> str:
        return text * (size // len(text))

    return {
        "words": times("the otters of Marrow were seen again "),
        "one word": "x" * size,
        "one word with accents": "é" * size,
        "one number": "1" * size,
        "number of parts": times("1:") + "1a",
        "dots": "." * size,
        "marks": times(".,;:!?"),
        "hyphens": times("a-"),
        "dotted letters": times("a.") + "bb",
        "apostrophes": times("a'"),
        "underscores": times("-_"),
        "mention": "@" + "a" * size,
        "mentions": times("@a "),
        "signs": times("@"),
        "hashtag": "#" + times("Otter"),
        "hashtags": times("#"),
        "cased hashtag": "#" + "A" * size + "a",
        "links": times(f"{_HOST}b "),
        "one link": _HOST + "b" * size,
        "link of marks": "http://" + "!" * size,
        "links without end": times("http://"),
        "www": times("www."),
        "hosts": times("a-") + ".example/",
        "no host": times("a-") + "! /",
        "no host of hyphens": times("--a") + "! /",
        "link with marks inside": _HOST + "!" * size + "b",
        "link in brackets": _HOST + ")" * size,
        "bars inside": "a" + "|" * size + "b",
        "nested brackets": "(" * (size // 2) + ")" * (size // 2),
        "brackets": "(" * size,
        "closed brackets": ")" * size,
        "smileys": ":" + ")" * size + "a",
        "quotation marks": times('"'),
        "spaces": "a" + " " * size + "b",
        "form feeds": "<a" + "\f" * size + "x",
        "anchor of spaces": "<a" + " " * (size // 2) + "x" * (size // 2),
        "lines": times("a\n"),
        "line breaks": "a" + "\n" * size + "b",
        "comments": times("<!--") + "<br>",
        "scripts": times("<script>") + "<br>",
        "styles": times("<style>") + "<br>",
        "tags": times("<b>") + "</b>",
        "open tags": times("<p "),
        "attributes": "<p " + times("a=1 ") + "</p>",
        "hidden": times('<span class="invisible">') + "</span>",
        "lower-than": times("<"),
        "ampersands": times("&"),
        "entities": times("&amp;"),
        "entity of digits": "&#" + "9" * size + ";",
        "entity of zeros": "&#" + "0" * size + "65;",
        "entity of hexadecimal digits": "&#x" + "f" * size + ";",
        "accents": "a" + times("\u0301\u0316"),
        "accents on letters": times("a" + "\u0301\u0316" * 100),
        "joiners": times("a\u200d"),
        "families": times("\U0001f468\u200d"),
        "flags": times("\U0001f1e6"),
        "ligatures": times("\ufdfa"),
        "Han": times("水獭"),
        "Thai": times("นาก"),
        "Brahmi": times("\U00011013"),
        "Hangul": times("\u1100\u1161\u11a8"),
        "right to left": times("\u202e\u202d"),
        "invisible": times("\u200b\ufeff"),
        "controls": times("\x01\x02\x85\u2028"),
        "via": times("via "),
        "via nobody": "@ via" + " " * size + "x",
        "via people": times("via @"),
        "read more": times("read more "),
        "retweet": times("RT @a: "),
        "marks after spaces": times(" ."),
        "arrows": times("→ "),
        "surrogates in JSON": times("\U0001f9a6"),
    }


def functions() -> dict[str, Callable[[str], object]]:
    """Return what reads texts, by name."""
    from linker.articles.extraction import article_from_text
    from linker.contrib.twitter4sse.tweets import clean
    from linker.data.html_text import anchors, plain_text
    from linker.data.languages import language_of
    from linker.data.links.text_links import links_in
    from linker.data.near_duplicates import duplicate_groups, signatures
    from linker.data.token_axis import subword_hashes
    from linker.data.tokenizers.normalization import normalized
    from linker.data.tokenizers.simple import BasicEnglishTokenizer
    from linker.data.tokenizers.social import SocialTokenizer
    from linker.data.types import Article
    from linker.mining.cleaning import cleaned, copied_grams, has_words
    from linker.models.features.words import lexical_words

    grams = copied_grams("Otters below the weir of Marrow", "The otters were seen below the weir on Tuesday")
    return {
        "plain_text": plain_text,
        "anchors": anchors,
        "links_in": links_in,
        "language_of": lambda text: language_of(Article("1", text)),
        "signatures": lambda text: signatures([text, "otters"]),
        "duplicate_groups": lambda text: duplicate_groups([text, text + "x", "otters"]),
        "social": SocialTokenizer().tokenize,
        "social with marks": SocialTokenizer(hashtags="both", punctuation=True).tokenize,
        "basic_english": BasicEnglishTokenizer().tokenize,
        "bertweet": lambda text: normalized(text, "bertweet"),
        "hashtags": lambda text: normalized(text, "hashtags"),
        "lexical_words": lexical_words,
        "lexical_words, French": lambda text: lexical_words(text, "fr"),
        "subword_hashes": subword_hashes,
        "clean": clean,
        "cleaned": lambda text: cleaned(text, grams),
        "has_words": lambda text: has_words(text, 4),
        "article_from_text": lambda text: article_from_text(text, "1"),
    }


def _read_with_all(text: str, without: Sequence[str]) -> None:
    """Give a text to each function; prints the names before, and the CPU seconds after each."""
    resource.setrlimit(resource.RLIMIT_AS, (_GIGABYTES << 30, _GIGABYTES << 30))
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    for name, function in functions().items():
        if name in without:
            continue
        print(name, end=": ", flush=True)
        # The limit of CPU time: the process ends there.
        soft = int(time.process_time() + _SECONDS) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (soft, most))
        begun = time.process_time()
        try:
            function(text)
            print(f"{time.process_time() - begun:.3f}", flush=True)
        except LinkerError:
            print("0", flush=True)
        except Exception as error:
            print(f"{error!r:.150}", flush=True)


def _run_functions(tally: Tally, name: str, path: Path) -> None:
    """Read a text with all functions."""
    done: set[str] = set()
    for _ in range(len(functions())):  # again after a function that was ended
        command = [sys.executable, "-m", "tests.reliability.posts", str(path), *done]
        ended = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True)
        for line in ended.stdout.splitlines():
            function, _, seconds = line.partition(": ")
            done.add(function)
            fault = f"{function}, {name}: {seconds or ended.stderr[-100:] or 'ended by a limit'}"
            if tally.check(seconds.replace(".", "").isdigit(), fault):
                tally.time(float(seconds), f"{function}, {name}")
        if ended.returncode == 0:
            break


def hostile_posts(tally: Tally, folder: Path, size: int, chance: random.Random) -> None:
    """Read posts of that many characters that are built to take for ever."""
    limits = f"ulimit -t {_COMMAND_SECONDS:.0f}; {LIMITED}"
    chosen = texts(size)
    for_commands = chosen if size >= _LONG else chance.sample(sorted(chosen), _OF_SHORT)
    for name, text in chosen.items():
        (folder / "text.txt").write_text(text, encoding="utf-8", newline="")
        _run_functions(tally, name, folder / "text.txt")
        if name not in for_commands:
            continue
        other = {"id": "2", "text": "the festival was never booked, lol"}
        write_rows(folder / "posts.jsonl", [{"id": "1", "text": text}, other])
        for title, arguments in _COMMANDS.items():
            # The limit of CPU time ends it.
            ended = run(arguments, folder, 3_600, shell=limits)
            tally.without(ended.fault((0, 2)), f"{title}, {name}")
            for output in ("corpus", "session", "mined"):
                shutil.rmtree(folder / output, ignore_errors=True)


if __name__ == "__main__":
    _read_with_all(Path(sys.argv[1]).read_text(encoding="utf-8"), sys.argv[2:])
