"""Labels decide which posts of a file are linked to an article."""

import json
from pathlib import Path

import pytest

from linker.common.errors import DataError
from linker.data.readers.articles_and_posts import ArticlesAndPosts
from linker.data.readers.pairs_file import SingleFile

POSTS = """post_id,text,article_id,label,annotator
1,ferry strike,a,relevant,kim
1,ferry strike,a,relevant,ben
2,pancakes,a,not,kim
3,no boats,a,,
4,the mayor,a,skip,kim
5,the crews,b,relevant,kim
"""


@pytest.fixture
def articles(tmp_path: Path) -> str:
    path = tmp_path / "articles.jsonl"
    rows = [{"id": "a", "title": "Ferry strike"}, {"id": "b", "title": "The crews"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_posts_labeled_not_are_no_positive_pairs(
    articles: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "posts.csv").write_text(POSTS)
    linked = ArticlesAndPosts(articles, str(tmp_path / "posts.csv")).read()
    assert {post.id: post.article_ids for post in linked.posts} == {
        "1": ("a",),
        "2": (),
        "3": (),
        "4": (),
        "5": ("b",),
    }
    assert "4 labels of 3 posts (2 relevant, 1 not)" in (said := capsys.readouterr().err.replace("\n", " "))
    assert "7 pairs of an article and a post without a label count as not relevant" in said


def test_labels_of_another_file(articles: str, tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_text(POSTS)
    (tmp_path / "labels.csv").write_text("id;article_id;relevant\n1;a;no\n3;a;yes\n3;b;yes\n5;z;yes\n")
    read = ArticlesAndPosts(articles, str(tmp_path / "posts.csv"), labels=str(tmp_path / "labels.csv")).read()
    assert {post.id: post.article_ids for post in read.posts if post.article_ids} == {"3": ("a", "b")}
    (tmp_path / "labels.csv").write_text("id;relevant\n1;no\n3;yes\n")
    with pytest.raises(DataError, match="2 labels name none of the 2 articles; add a column article_id"):
        ArticlesAndPosts(articles, str(tmp_path / "posts.csv"), labels=str(tmp_path / "labels.csv")).read()


def test_with_labels_of_another_file_a_post_may_be_there_with_several_articles(
    articles: str, tmp_path: Path
) -> None:
    (tmp_path / "posts.csv").write_text("id,text,article_id\n1,ferry strike,a\n1,ferry strike,b\n")
    (tmp_path / "labels.csv").write_text("id,article_id,label\n1,b,relevant\n")
    read = ArticlesAndPosts(articles, str(tmp_path / "posts.csv"), labels=str(tmp_path / "labels.csv")).read()
    assert [(post.id, post.article_ids) for post in read.posts] == [("1", ("b",))]


def test_lines_labeled_not_are_no_pairs(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text(
        "url,article,text,label\nu,Ferry strike,no boats,1\nu,Ferry strike,pancakes,0\n"
    )
    linked = SingleFile(str(tmp_path / "pairs.csv")).read()
    assert [post.article_ids for post in linked.posts] == [("u",), ()]
