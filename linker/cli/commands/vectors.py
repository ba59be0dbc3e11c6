"""`linker vectors distill`: word vectors from a sentence transformer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linker.cli.command import App
from linker.cli.options import OnError

app = App(help="Distill word vectors from a sentence transformer.", no_args_is_help=True)


@app.command()
def distill(
    files: Annotated[
        list[str], typer.Argument(help="Files with the texts to learn from: articles, posts or both.")
    ],
    teacher: Annotated[
        str, typer.Option(help="Teacher: a sentence-transformers folder, or a linker model with embeddings.")
    ],
    out: Annotated[Path, typer.Option(help="Vector file to write, such as vectors.txt.gz.")],
    text_column: Annotated[
        list[str] | None,
        typer.Option(help="Column to read text from; repeatable.", show_default="title, text"),
    ] = None,
    tokenizer: Annotated[
        str, typer.Option(help="Tokenizer of the model that will use the vectors.")
    ] = "social",
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
    from linker.config import build
    from linker.data.readers.texts import texts_of
    from linker.data.tokenizers.tokenizer import Tokenizer
    from linker.training.distillation.teacher import CachedTeacher, Teacher
    from linker.training.static_embeddings import distill_vectors

    check_writable(out, files)
    # Two would take each other's embeddings out of the cache, which differ in rounding.
    with only_writer(out):
        model = Teacher(teacher)
        words, texts, cosine = distill_vectors(
            texts_of(files, text_column or ["title", "text"], on_error),
            CachedTeacher(teacher_cache or Path(f"{out}.teacher-cache"), model.name, model.encode),
            build(Tokenizer, tokenizer),
            out,
            min_count,
            epochs,
            seed,
        )
    info(f"{texts:,} texts; {words:,} words with a vector; cosine to the teacher {cosine:.3f}")
    print(out)
