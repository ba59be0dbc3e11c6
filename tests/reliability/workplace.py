"""Every command with small inputs that it takes, and the folder that holds them."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

from linker.cli.main import app
from tests.helpers.tiny_transformers import tiny
from tests.helpers.tweets import v1, write
from tests.reliability.harness import DATA, must, read_rows, write_rows

_TRAINING = {
    "data": {"reader": {"type": "articles_and_posts", "articles": "articles.jsonl", "posts": "posts.jsonl"}},
    "miner": "all_pairs",
    "loss": {"type": "nt_xent", "temperature": 0.1},
    "trainer": {"epochs": 1, "batches": {"articles": 4, "posts_per_article": 2}},
    "seed": 1,
}


@dataclass(frozen=True)
class Case:
    """A command.

    Attributes:
        arguments: `IN` is where the input goes, and what begins with `OUT` is what the command writes.
        input: the file or folder that goes there, in the workplace; empty: none.
        folder: whether it writes a folder.
        own: a folder of linker's that the command reads, in the workplace; empty: none.
        forever: whether it has to be stopped.
        ends: exit code where nothing is wrong.
    """

    arguments: tuple[str, ...]
    input: str = ""
    folder: bool = False
    own: str = ""
    forever: bool = False
    ends: int = 0

    @property
    def suffix(self) -> str | None:
        """Suffix of the output; None: the command has none."""
        return next((word[3:] for word in self.arguments if word.startswith("OUT")), None)

    def words(self, given: str = "", out: str = "out") -> list[str]:
        """Return the arguments with an input, by default the usual one, and an output."""
        words = (given or self.input if word == "IN" else word for word in self.arguments)
        return [out + word[3:] if word.startswith("OUT") else word for word in words]


def _case(text: str, **more: object) -> Case:
    return Case(tuple(text.split()), **more)  # type: ignore[arg-type]


_ABOUT = "--article article.html"
_PAIRS = "--articles articles.jsonl --posts"
CASES = {
    "rank": _case(f"rank {_ABOUT} --posts IN --model bm25 --out OUT.csv", input="posts.jsonl"),
    "rank to a workbook": _case(
        f"rank {_ABOUT} --posts IN --model bm25 --out OUT.xlsx", input="posts.jsonl"
    ),
    "rank with best": _case(f"rank {_ABOUT} --posts IN --out OUT.jsonl", input="posts.jsonl"),
    "rank for an article": _case("rank --article IN --posts posts.jsonl --model bm25", input="article.html"),
    "rank with a model": _case(f"rank {_ABOUT} --posts IN --model run", input="posts.csv", own="run"),
    "rank by labels": _case(f"rank {_ABOUT} --posts posts.jsonl --labels IN", input="labels.csv"),
    "serve": _case("serve session --port 0 --no-browser --model bm25", own="session", forever=True),
    "annotate simulate": _case(
        f"annotate simulate {_PAIRS} IN --model bm25 --seeds 1 --workers 1 --strategy active_learning --out OUT",
        input="posts.jsonl",
        folder=True,
    ),
    "train": _case("train IN --out OUT", input="small.jsonnet", folder=True),
    "train on posts": _case(
        "train small.jsonnet --posts IN --out OUT", input="posts.jsonl", folder=True
    ),
    "train --resume": _case(
        "train small.jsonnet --out run --resume", own="run"
    ),
    "mine fetch": _case("mine fetch IN --out OUT --contact me@lab.example", input="links.txt", folder=True),
    "model export": _case("model export hugging --out OUT", own="hugging", folder=True),
    "model push": _case("model push run user/model", own="run", ends=2),
    "evaluate": _case(f"evaluate --model bm25 {_PAIRS} IN --json OUT.json", input="posts.jsonl"),
    "calibrate": _case(f"calibrate {_PAIRS} IN --model bm25 --out OUT.json", input="posts.jsonl"),
    "config components": _case("config components"),
    "doctor": _case("doctor"),
    "config new": _case("config new encoder otters --package OUT", folder=True),
    "corpus build": _case("corpus build IN --out OUT --model distilled", input="posts.jsonl", folder=True),
    "corpus add": _case("corpus add corpus IN", input="more.jsonl", own="corpus"),
    "corpus info": _case("corpus info corpus", own="corpus"),
    "corpus verify": _case("corpus verify corpus", own="corpus"),
    "corpus compact": _case("corpus compact corpus", own="corpus"),
    "corpus delete": _case("corpus delete corpus IN", input="ids.txt", own="corpus"),
    "corpus export": _case("corpus export corpus --out OUT.parquet", own="corpus"),
    "corpus search": _case(f"corpus search corpus {_ABOUT} --out OUT.csv", own="corpus"),
    "annotate start": _case(
        f"annotate start OUT {_ABOUT} --posts IN --model bm25", input="posts.jsonl", folder=True
    ),
    "annotate run": _case("annotate run session --annotator Ada", own="session", ends=2),
    "annotate next": _case("annotate next session --annotator Ada", own="session"),
    "annotate label": _case("annotate label session s01-a1-p3 relevant --annotator Ada", own="session"),
    "annotate undo": _case("annotate undo session --annotator Ada", own="session"),
    "annotate status": _case("annotate status session", own="session"),
    "annotate export": _case("annotate export session --out OUT.xlsx", own="session"),
    "annotate import": _case(
        "annotate import session IN --annotator Bo", input="labels.csv", own="session"
    ),
    "annotate agreement": _case("annotate agreement session", own="session"),
    "config show": _case("config show IN", input="small.jsonnet"),
    "config check": _case("config check IN", input="small.jsonnet"),
    "config list": _case("config list"),
    "mine links": _case("mine links IN --out OUT --articles known.jsonl --dev 0.2", input="linked.jsonl", folder=True),
    "mine quotes": _case("mine quotes IN --out OUT.jsonl --workers 1", input="tweets"),
    "mine replies": _case("mine replies IN --out OUT.jsonl --workers 1", input="tweets"),
    "mine coquotes": _case("mine coquotes IN --out OUT.jsonl --workers 1", input="tweets"),
    "mine coreplies": _case("mine coreplies IN --out OUT.jsonl --workers 1", input="tweets"),
    "mine benchmarks": _case(
        "mine benchmarks IN --out OUT --queries 8 --workers 1", input="tweets", folder=True
    ),
    "mine augmented": _case("mine augmented IN --model tiny --out OUT.jsonl", input="classes.csv"),
    "mcp": _case("mcp"),
    "help": _case("--help"),
    "version": _case("--version"),
}  # fmt: skip


def commands_without_case() -> list[str]:
    """Return the commands of linker that no case runs."""

    def names(command: object, before: str) -> Iterator[str]:
        if inner := getattr(command, "commands", None):
            for name, below in inner.items():
                yield from names(below, f"{before}{name} ")
        else:
            yield before

    tried = [" ".join(case.arguments) + " " for case in CASES.values()]
    all_names = names(typer.main.get_command(app), "")
    return [name for name in all_names if not any(words.startswith(name) for words in tried)]


def linked_posts() -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Return articles, and posts with links to them."""
    urls = [f"https://news{n % 4}.example/2026/03/{n}-otters-below-the-weir-again.html" for n in range(12)]
    story = "Otters {} were filmed below the weir at Marrow on Tuesday, the first on the river for years. "
    text = "my mum saw {} of them swim past the mill last night and nobody believed her {}"
    articles = [
        {"id": str(n), "url": url, "title": f"Otters of weir {n}", "text": story.format(n * n) * 9,
         "created_at": f"2026-03-{n + 1:02}"}
        for n, url in enumerate(urls)
    ]  # fmt: skip
    posts = [
        {"id": f"l{n}", "text": text.format(n * n, urls[n % 12]), "created_at": f"2026-03-{n % 12 + 2:02}"}
        for n in range(60)
    ]
    return articles, posts


def make_workplace(parent: Path) -> Path:
    """Make a folder with what the commands read."""
    folder = parent / "workplace"
    folder.mkdir()
    posts = read_rows(DATA / "posts.jsonl")[:80]
    rows = posts[:60]
    texts = [(row["id"], row["text"].replace('"', "")) for row in rows]
    known = {row["article_id"] for row in rows}
    articles, linked = linked_posts()
    for name, some in {
        "posts.jsonl": rows,
        "more.jsonl": posts[40:],
        "articles.jsonl": [row for row in read_rows(DATA / "articles.jsonl") if row["id"] in known],
        "linked.jsonl": linked,
        "known.jsonl": articles,
    }.items():
        write_rows(folder / name, some)
    taco = {row["id"]: row["text"].replace('"', "") for row in read_rows(DATA / "taco" / "texts.jsonl")}
    classes = [line.split(",") for line in (DATA / "taco" / "labels.csv").read_text("utf-8").split()[1:13]]
    embedder = {"type": "word_vectors", "dim": 8, "trainable": True}
    small = {"type": "siamese", "embedder": embedder, "encoder": "mean", "min_count": 1}
    write_lines: dict[str, list[str]] = {
        "posts.csv": ["id,text", *(f'{id_},"{text}"' for id_, text in texts)],
        "labels.csv": [
            "id,label",
            *(f"{id_},{('relevant', 'not')[n % 2]}" for n, (id_, _) in enumerate(texts[:20])),
        ],
        "ids.txt": [*(id_ for id_, _ in texts[:5]), "unknown"],
        "links.txt": ["http://127.0.0.1:9/story", "http://10.0.0.1/private"],
        "small.jsonnet": [json.dumps(_TRAINING | {"model": small})],
        "hugging.jsonnet": [json.dumps(_TRAINING | {"model": {"type": "transformer", "path": "tiny"}})],
        "classes.csv": [
            "tweet_id,topic,class,text",
            *(f'{id_},{topic},{kind},"{taco[id_]}"' for id_, topic, kind in classes),
        ],
    }  # fmt: skip
    for name, lines in write_lines.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    shutil.copy(DATA / "article.html", folder)
    tweets = [v1(100 * n + i, quotes=v1(n), replies_to=n) for n in range(1, 9) for i in range(1, 7)]
    write(folder / "tweets" / "a.json.gz", [*tweets, *(v1(n) for n in range(1, 9))])
    tiny("bert", folder / "tiny", masked_lm=True, heads=4)
    for arguments in (
        "train small.jsonnet --out run",
        "train hugging.jsonnet --out hugging",
        "corpus build posts.jsonl --out corpus --model distilled",
        f"annotate start session {_ABOUT} --posts posts.jsonl --model bm25",
        *(f"annotate label session {id_} relevant --annotator Ada" for id_, _ in texts[:2]),
    ):
        must(arguments.split(), folder)
    return folder
