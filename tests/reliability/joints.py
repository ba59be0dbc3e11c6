"""Every export in every reader: what goes out comes back equal, or a line counts what was left out."""

import json
import random
import re
import shutil
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pandas as pd

import linker
from linker.annotation.formats.label_format import LabelFormat
from linker.data.files.known_columns import words
from linker.data.readers.articles_and_posts import ArticlesAndPosts
from tests.helpers.forked import run_linker
from tests.helpers.label_histories import History
from tests.reliability.harness import Ended, Tally, fresh, read_rows, write_rows
from tests.reliability.workplace import linked_posts

IDS = (
    *words(
        "007 00 1e5 1E+5x 0x1F 1_000 1,5 12345678901234567 1234567890123456789 12345678901234567890123 NA n/a TRUE"
    ),
    *words(
        "=1+1 -3 +49 @x 'quoted apo's quo\"te a,b a;b a/b:c|d <b> &amp; % 2024-05-01 12:30 🛟 cafe\u0301 caf\u00e9"
    ),
    *("مرحبا", "ſ", "ẞ", "at://did:plc:x/app.bsky.feed.post/3k", "two words", "a  b"),
)
_TEXTS = (
    "the ferry {} sank", "=HYPERLINK(1) ferry {}", "-3 ferries {}", "+1 captain {}", "@anna ferry {}", "'ferry {}",
    "two\nlines {}\n\nferry", "\"both\" 'quotes', {}; x", "tab\tferry {}", "مروحية أنقذت {}", "フェリー{}🛟👩‍🚒",
    "cafe\u0301 {}", "\u202eferry {}\u202c", "sep\u2028ferry {}", "{}", "NA {}", "a|b;c {}", "''x {}", "1e5 {}",
)  # fmt: skip
_NOTES = (
    "", "", "=1+1", "sure?\nno", "„ja“", "NA", "-", "-3", "'x", "null", "tab\there", '"q", r', "0", "مرحبا 🛟",
)  # fmt: skip
_PEOPLE = ("ann", "Bø 🛟", "007", "=cmd", "lee, kim", "null", "-3", "cafe\u0301")
_FORMATS = sorted(LabelFormat.available())
_ARTICLES = [
    {"id": "a1", "title": "Ferry sinks", "text": "The ferry sank."},
    {"id": "a2", "text": "A late bus."},
]
_RANK = (*words("rank --article article.jsonl --model bm25 --top 9999 --copies"), "--posts")
_BREAKS = re.compile("[\t\r\n\u2028]+")
_START = datetime(2026, 5, 1, tzinfo=timezone.utc)
#: What is said of a post or label, by what names it.
Facts = dict[tuple[str, ...], tuple[Any, ...]]


def joints(tally: Tally, folder: Path, rounds: int, chance: random.Random) -> None:
    """Send random posts and labels with hard values from every writer to every reader, and random histories of labels
    through exports and imports."""
    lost = 0
    for _ in range(rounds):
        with fresh(folder) as place:
            posts = _write_inputs(place, chance)
            lost += (
                _rankings(tally, place, posts)
                + _corpus_and_frames(tally, place, posts)
                + _mined(tally, place)
            )
            lost += _labels(tally, place, posts, chance)
        for _ in range(5):
            with fresh(folder) as place:
                lost += not tally.without(
                    History(place, chance.sample(IDS, 6), chance).run(60), "labels in time"
                )
    tally.notes = f"{lost} posts and labels lost or turned"


def _write_inputs(place: Path, chance: random.Random) -> list[dict[str, Any]]:
    posts = []
    for number, id_ in enumerate(chance.sample(IDS, len(IDS))):
        zone = timezone(timedelta(minutes=chance.choice((-480, 0, 120, 345))))
        time = (_START + timedelta(seconds=chance.randrange(10**7), microseconds=number)).astimezone(zone)
        text = chance.choice(_TEXTS).format(f"w{chance.randrange(10**6)}x{number} y{number * 7919}")
        post = {"id": id_, "text": text, "author": chance.choice(_PEOPLE)}
        posts.append(post | {"created_at": time.isoformat()} if chance.random() < 0.8 else post)
    write_rows(place / "posts.jsonl", posts)
    write_rows(place / "article.jsonl", _ARTICLES[:1])
    write_rows(place / "articles.jsonl", _ARTICLES)
    return posts


def _run(tally: Tally, place: Path, *arguments: str, codes: Sequence[int] = (0,)) -> Ended:
    done = run_linker(place, *arguments)
    ended = Ended(done.returncode, done.stdout, " ".join(f"{done.stderr} {done.stdout}".split()))
    tally.without(ended.fault(codes), " ".join(arguments))
    return ended


def _counted(pattern: str, ended: Ended) -> int:
    """Return the number that a line of a command counts; 0: it has no such line."""
    match = re.search(rf"([\d,]+) {pattern}", ended.err)
    return int(match[1].replace(",", "")) if match else 0


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text.replace("Z", "+00:00")) if text else None


def _posts(rows: Sequence[Mapping[str, Any]]) -> Facts:
    """Return text, time and author of posts; exports of a corpus have authors in a column of JSON."""
    rows = [{**json.loads(row.get("extra") or "{}"), **row} for row in rows]
    return {(row["id"],): (row["text"], _time(row.get("created_at")), row["author"]) for row in rows}


def _equal(tally: Tally, expected: Facts, back: Facts, name: str) -> int:
    """Compare facts: a case; returns how many are lost or turned."""
    wrong = [key for key in expected.keys() | back.keys() if expected.get(key) != back.get(key)]
    first = f", such as {wrong[0]}: {expected.get(wrong[0])} → {back.get(wrong[0])}" if wrong else ""
    tally.check(not wrong, f"{name}: {len(wrong)} of {len(expected)} lost or turned{first}")
    return len(wrong)


def _read_back(tally: Tally, place: Path, name: str, expected: Facts) -> int:
    _run(tally, place, *_RANK, name, "--out", "back.jsonl")
    return _equal(tally, expected, _posts(read_rows(place / "back.jsonl")), f"{name} read by rank")


def _rankings(tally: Tally, place: Path, posts: list[dict[str, Any]]) -> int:
    """Read every format of rankings as posts."""
    wrong, expected = 0, _posts(posts)
    for name in words("ranked.csv ranked.xlsx ranked.json ranked.jsonl ranked.parquet ranked.tsv"):
        ended = _run(tally, place, *_RANK, "posts.jsonl", "--out", name)
        if name == "ranked.tsv":  # it has no quotes
            broken = sum(_BREAKS.search(text) is not None for text, *_ in expected.values())
            counted = _counted("cells? with tabs or line breaks", ended)
            tally.check(counted == broken, f"tsv: {counted} of {broken} changed cells counted")
            expected = {id_: (_BREAKS.sub(" ", text), *more) for id_, (text, *more) in expected.items()}
        wrong += _read_back(tally, place, name, expected)
    return wrong


def _corpus_and_frames(tally: Tally, place: Path, posts: list[dict[str, Any]]) -> int:
    """Send posts through a corpus, its export and search, and through data frames."""
    _run(tally, place, *words("corpus build ranked.xlsx --out corpus --model distilled"))
    ended = _run(tally, place, *words("corpus add corpus ranked.csv ranked.parquet"))
    tally.check(_counted("left out: repeated", ended) == 2 * len(posts), f"corpus add: {ended.err[-200:]}")
    _run(tally, place, *words("corpus export corpus --out corpus.parquet"))
    _run(
        tally,
        place,
        *words("corpus search corpus --article article.jsonl --top 9999 --copies --out search.csv"),
    )
    model = linker.load("bm25")
    frame = model.rank(_ARTICLES[0], str(place / "posts.jsonl")).to_pandas()
    frame.to_csv(place / "frame.csv", index=False)
    frame.to_parquet(place / "frame.parquet")
    again = model.rank(_ARTICLES[0], pd.read_parquet(place / "frame.parquet")).to_pandas()
    tally.check(set(again["id"]) == {post["id"] for post in posts}, "ids of a data frame turned")
    names = words("corpus.parquet search.csv frame.csv frame.parquet")
    return sum(_read_back(tally, place, name, _posts(posts)) for name in names)


def _mined(tally: Tally, place: Path) -> int:
    """Mine posts that link to articles, and read the training set."""
    articles, linked = linked_posts()
    for post, id_ in zip(linked, IDS):
        post["id"] = id_
    write_rows(place / "known.jsonl", articles)
    write_rows(place / "linked.jsonl", linked)
    _run(tally, place, *words("mine links linked.jsonl --out set --articles known.jsonl"))
    read = ArticlesAndPosts(str(place / "set/articles.jsonl"), str(place / "set/posts.jsonl")).read()
    urls = {post["id"]: post["text"].split()[-1].split("//")[1] for post in linked}
    days = {post["id"]: post["created_at"] for post in linked}
    expected: Facts = {(post.id,): (urls[post.id], days[post.id]) for post in read.posts if post.id in urls}
    back: Facts = {
        (post.id,): (post.article_ids[0], f"{post.created_at:%Y-%m-%d}")
        for post in read.posts
        if post.created_at
    }
    report = json.loads((place / "set" / "report.json").read_text("utf-8"))["linked posts"]
    whole, *parts = report.values()
    tally.check(
        whole == sum(parts) == len(linked) and len(back) > 10, f"mine links: {report}, {len(back)} read"
    )
    return _equal(tally, expected, back, "mine links read for training")


def _facts(rows: Sequence[Mapping[str, Any]], timed: bool) -> Facts:
    """Return what rows of an export or of the truth say of each label; names are equal in NFC."""
    facts: Facts = {}
    for row in rows:
        if row["label"]:
            name = unicodedata.normalize("NFC", row["annotator"])
            times = [_time(row.get(key)) for key in ("time", "note_time") if timed]
            fact = row["label"], row.get("note") or "", row.get("sample"), *times
            facts[row["post_id"], name, str(row.get("adjudicated")), str(row.get("machine"))] = fact
    return facts


def _truth(posts: list[dict[str, Any]], chance: random.Random) -> list[dict[str, Any]]:
    rows = []
    for post in posts:
        drawn = {"sample": chance.choice(("random", "active_learning"))}
        others = [("chief", {"adjudicated": True}), ("gpt", {"machine": True})]
        for name in chance.sample((*_PEOPLE, *others), chance.randrange(5)):
            name, more = name if isinstance(name, tuple) else (name, drawn)
            time = _START + timedelta(microseconds=chance.randrange(10**12))
            value = chance.choice(("relevant", "not", "skip" if more is drawn else "not"))
            row = {"post_id": post["id"], "article_id": "a1", "label": value, "annotator": name, **more}
            note = "" if "adjudicated" in more else chance.choice(_NOTES)
            later = {"note_time": (time + timedelta(hours=1)).isoformat()} if note and more is drawn else {}
            rows.append(
                {**row, "note": note, "time": time.isoformat(), **(later if chance.random() < 0.5 else {})}
            )
    return rows


def _labels(tally: Tally, place: Path, posts: list[dict[str, Any]], chance: random.Random) -> int:
    """Export labels in every format, import them into another session, and give them to what else reads labels."""
    truth = _truth(posts, chance)
    foreign = [row | {"article_id": "a2"} for row in truth[::7]]
    write_rows(place / "truth.jsonl", [*truth, *foreign])
    write_rows(place / "foreign.jsonl", foreign)
    _run(
        tally, place, *words("annotate start empty --article article.jsonl --posts posts.jsonl --model bm25")
    )
    shutil.copytree(place / "empty", place / "full")
    ended = _run(tally, place, *words("annotate import full truth.jsonl"))
    counted = _counted("labels are of other articles", ended)
    tally.check(counted == len(foreign), f"{counted} of {len(foreign)} labels of another article counted")
    for command in ((*_RANK, "posts.jsonl", "--labels"), words("annotate import full")):
        ended = _run(tally, place, *command, "foreign.jsonl", codes=(2,))
        tally.check("of other articles" in ended.err, f"labels of another article: {ended.err[-200:]}")
    wrong = _readers(tally, place, "truth.jsonl", "articles.jsonl", [*truth, *foreign], False)
    for name in _FORMATS:
        ending = {"asreview": "dataset.csv", "csv": "csv", "xlsx": "xlsx"}.get(name, "json")
        kind, file = LabelFormat.by_name(name), f"{name}.{ending}"
        ended = _run(tally, place, "annotate", "export", "full", "--out", file, "--format", name)
        rows = [row for row in truth if kind.marks_machines or not {"machine", "adjudicated"} & row.keys()]
        if kind.one_per_post:
            rows = truth
        else:
            counted = _counted("adjudicated or machine labels left out", ended)
            tally.check(counted == len(truth) - len(rows), f"{name}: {counted} labels counted as left out")
            shutil.rmtree(place / "other", ignore_errors=True)
            shutil.copytree(place / "empty", place / "other")
            _run(tally, place, "annotate", "import", "other", file)
            _run(tally, place, *words("annotate export other --out back.jsonl"))
            timed = name != "argilla"
            back = _facts(read_rows(place / "back.jsonl"), timed)
            wrong += _equal(tally, _facts(rows, timed), back, f"export to {name} to import")
        wrong += _readers(tally, place, file, "article.jsonl", rows, name in ("asreview", "xlsx"))
    return wrong


def _verdicts(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], bool]:
    """Return which pairs are relevant: by the adjudicated label, else the majority; a tie is relevant."""
    votes: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["label"] != "skip" and "machine" not in row:
            votes.setdefault((row["article_id"], row["post_id"]), []).append(row)
    counted = {pair: [row for row in some if "adjudicated" in row] or some for pair, some in votes.items()}
    return {
        pair: 2 * sum(row["label"] == "relevant" for row in some) >= len(some)
        for pair, some in counted.items()
    }


def _readers(
    tally: Tally, place: Path, file: str, articles: str, rows: Sequence[Mapping[str, Any]], all_of_them: bool
) -> int:
    """Give labels to what reads labels: all count the same, and qrels have the relevant pairs that they can hold."""
    verdicts = _verdicts(rows)
    relevant = sum(verdicts.values())
    counts = f"({relevant:,} relevant, {len(verdicts) - relevant:,} not)"
    posts = [row for row in read_rows(place / "posts.jsonl") if " " not in row["id"]]
    write_rows(place / "plain.jsonl", posts)
    about = ("--articles", articles, "--posts", "plain.jsonl", "--labels", file)
    commands = [
        ("evaluate", "--model", "bm25", *about, "--qrels", "qrels.txt", "--run", "run.txt"),
        ("calibrate", *about, "--model", "bm25", "--out", "calibration.json"),
        (*_RANK, "posts.jsonl", "--labels", file, "--out", "ranked.jsonl"),
    ]
    ends = [_run(tally, place, *words, codes=(0, 2)) for words in commands[: 3 if all_of_them else 1]]
    wrong = sum(not tally.check(counts in end.err, f"{file}: not {counts}: {end.err[:300]}") for end in ends)
    qrels, run = (
        [line.split(" ") for line in (place / name).read_text("utf-8").split("\n")[:-1]]
        for name in ("qrels.txt", "run.txt")
    )
    expected: Facts = {
        pair: () for pair, is_relevant in verdicts.items() if is_relevant and " " not in pair[1]
    }
    wrong += _equal(tally, expected, {(pair[0], pair[2]): () for pair in qrels}, f"qrels of {file}")
    tally.check({pair[2] for pair in run} == {row["id"] for row in posts}, f"run of {file}: other posts")
    return wrong
