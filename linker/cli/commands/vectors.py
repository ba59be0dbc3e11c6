"""`linker vectors`: download, distill and inspect word vectors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linker.cli.command import App
from linker.cli.options import OnError

if TYPE_CHECKING:
    from linker.data.tokenizers.tokenizer import Tokenizer

app = App(help="Download, distill or inspect word vectors.", no_args_is_help=True)

Cache = Annotated[
    str | None,
    typer.Option(
        "--cache", help="Cache folder for named vectors (default: LINKER_VECTOR_CACHE, else .vector_cache)."
    ),
]
TextColumns = Annotated[
    list[str] | None,
    typer.Option("--text-column", help="Column to read text from; repeatable.", show_default="title, text"),
]
TokenizerName = Annotated[
    str, typer.Option("--tokenizer", help="Tokenizer: a registered name or a JSON object.")
]


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="Name of the vectors, such as 6B.300d or twitter.27B.200d.")],
    cache: Cache = None,
) -> None:
    """Download published GloVe vectors, which configs find by name.

    An interrupted download resumes where it stopped.
    """
    from linker.cli.downloads import fetch_named

    print(fetch_named(name, cache))


@app.command()
def distill(
    files: Annotated[
        list[str], typer.Argument(help="Files with the texts to learn from: articles, posts or both.")
    ],
    teacher: Annotated[
        str, typer.Option(help="Teacher: a sentence-transformers folder, or a linker model with embeddings.")
    ],
    out: Annotated[Path, typer.Option(help="Vector file to write, such as vectors.txt.gz.")],
    column: TextColumns = None,
    tokenizer: TokenizerName = "social",
    epochs: Annotated[int, typer.Option(min=1, help="Number of passes over the texts.")] = 8,
    min_count: Annotated[int, typer.Option(min=1, help="Ignore words that occur less often than this.")] = 2,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Random seed for the order of the texts.")
    ] = 1,
    teacher_cache: Annotated[
        Path | None,
        typer.Option(help="Cache folder for the teacher's embeddings.", show_default="OUT.teacher-cache"),
    ] = None,
    on_error: OnError = "strict",
) -> None:
    """Distill word vectors whose mean approximates a sentence transformer's embeddings.

    The teacher embeds all texts once, which takes long; an interrupted run resumes.
    """
    from linker.common.console import info
    from linker.common.files import check_writable
    from linker.common.locks import only_writer
    from linker.data.readers.texts import texts_of
    from linker.training.distillation.teacher import CachedTeacher, Teacher
    from linker.training.static_embeddings import distill_vectors

    check_writable(out, files)
    # Two would take each other's embeddings out of the cache, which differ in rounding.
    with only_writer(out):
        model = Teacher(teacher)
        words, texts, cosine = distill_vectors(
            texts_of(files, column or ["title", "text"], on_error),
            CachedTeacher(teacher_cache or Path(f"{out}.teacher-cache"), model.name, model.encode),
            _tokenizer(tokenizer),
            out,
            min_count,
            epochs,
            seed,
        )
    info(f"{texts:,} texts; {words:,} words with a vector; cosine to the teacher {cosine:.3f}")
    print(out)


@app.command()
def info(
    source: Annotated[str, typer.Argument(help="Vector file, or a name such as 6B.300d.")],
    files: Annotated[
        list[str] | None,
        typer.Argument(help="Files of articles or posts; report how many of their words have a vector."),
    ] = None,
    column: TextColumns = None,
    tokenizer: TokenizerName = "social",
    max_words: Annotated[
        int,
        typer.Option(
            min=0, help="Number of words to keep from the top of the file, besides the words of FILES."
        ),
    ] = 100_000,
    cache: Cache = None,
) -> None:
    """Show the contents of a vector file and how many words of your texts it covers."""
    import numpy as np

    from linker.data.readers.texts import texts_of
    from linker.data.word_vectors.file import VectorFile, coverage

    vectors = VectorFile(source, max_words, cache)
    tokenize = _tokenizer(tokenizer).tokenize
    texts = [tokenize(text) for text in texts_of(files or [], column or ["title", "text"])]
    words, matrix = vectors.read({token for text in texts for token in text} or None)
    print(f"{vectors.path()}: {len(words):,} words kept, {matrix.shape[1]} dimensions")
    print(f"mean length of a vector: {np.linalg.norm(matrix, axis=1).mean():.2f}")
    print(f"first words: {' '.join(words[:10])}")
    if files:
        print(coverage(set(words), texts))


def _tokenizer(text: str) -> Tokenizer:
    import json

    from linker.common.errors import ConfigError
    from linker.config import build
    from linker.data.tokenizers.tokenizer import Tokenizer

    try:
        params = json.loads(text) if text.startswith("{") else text
    except ValueError as error:
        raise ConfigError(f"--tokenizer {text}: neither a name nor a JSON object ({error})") from error
    tokenizer: Tokenizer = build(Tokenizer, params)
    return tokenizer
