"""The corpus benchmark on few posts: it runs, it resumes, and its posts have the documented proportions."""

import gzip
import json
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from benchmarks.corpus.posts import NEAR_COPIES, RETWEETS, PostMaker, write_posts

ROOT = Path(__file__).resolve().parents[2]


def test_posts_are_made_from_real_posts(tmp_path):
    write_posts([ROOT / "data"], 3_000, tmp_path / "posts.jsonl.gz")
    with gzip.open(tmp_path / "posts.jsonl.gz") as file:
        posts = [json.loads(line) for line in file]
    assert posts[:100] == list(islice(PostMaker.read([ROOT / "data"]), 100)), (
        "the same ones, and fewer begin alike"
    )
    assert len({post["id"] for post in posts}) == len(posts) == 3_000
    assert [post["created_at"] for post in posts] == sorted(post["created_at"] for post in posts)
    retweets = [post for post in posts if post["text"].startswith("RT @")]
    assert len(retweets) / 3_000 == pytest.approx(RETWEETS, abs=0.02)
    texts = {post["text"] for post in posts}
    assert all(post["text"].split(": ", 1)[1] in texts for post in retweets)
    copies = [text for text in texts if text.rsplit(" https://t.co/", 1)[0] in texts - {text}]
    assert len(copies) / 3_000 == pytest.approx(NEAR_COPIES, abs=0.02)
    real = {
        word for line in (ROOT / "data" / "posts.jsonl").open() for word in json.loads(line)["text"].split()
    }
    real |= {
        word
        for line in (ROOT / "data" / "articles.jsonl").open()
        for word in json.loads(line)["text"].split()
    }
    words = Counter(
        word for post in posts for word in post["text"].split() if word[0] not in "#@h" and word != "RT"
    )
    assert sum(count for word, count in words.items() if word in real) / words.total() > 0.97


@pytest.mark.slow
def test_the_benchmark_runs(tmp_path):
    pytest.importorskip("lance", reason="the package pylance (extra `corpus`) is not installed")
    command = [sys.executable, "-m", "benchmarks.corpus", "--quick", "--posts", "2000", "--threads", "1"]
    command += ["--work", str(tmp_path / "work"), "--out", str(tmp_path / "corpus.md")]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    page = (tmp_path / "corpus.md").read_text(encoding="utf-8")
    assert "the same posts in the same order, with the same vectors" in page
    assert "nan" not in page
