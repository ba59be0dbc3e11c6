"""`linker distil`: from a config, texts and a teacher to a model folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linker.cli.downloads import fetch_missing
from linker.cli.options import (
    ConfigFile,
    ExtVars,
    OnBadText,
    Overrides,
    Packages,
    SaidFolder,
    TeacherFolder,
    TextColumns,
    VectorsName,
    read_config,
)


def distil(
    config: ConfigFile,
    files: Annotated[
        list[str],
        typer.Argument(
            help="Files with the texts to learn from: articles, posts or both.", show_default=False
        ),
    ],
    teacher: TeacherFolder,
    out: Annotated[Path, typer.Option("--out", help="Model folder to write.", show_default=False)],
    column: TextColumns = None,
    vectors: VectorsName = None,
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="Number of passes over the texts.")] = 3,
    rate: Annotated[float, typer.Option("--rate", min=0, help="Peak learning rate.")] = 5e-4,
    said: SaidFolder = None,
    override: Overrides = None,
    ext_var: ExtVars = None,
    include_package: Packages = None,
    on_error: OnBadText = "strict",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the model folder if it exists.")
    ] = False,
) -> None:
    """Distill a sentence transformer (the teacher) into the model of a config; no links are needed.

    Use the model as it is, or fine-tune it on links with `linker train CONFIG -o start=OUT`. The teacher embeds all
    texts once, which takes long; an interrupted run resumes there. OUT holds the current model after every epoch.
    """
    from linker.common.console import stderr
    from linker.config import EXPERIMENT, build, resolve
    from linker.data.word_vectors.train import texts_of
    from linker.training.checkpointing.resume import check_output_dir
    from linker.training.data_options import settle_vectors, use_vectors
    from linker.training.distillation.teacher import CachedTeacher, Teacher

    def say(line: str) -> None:
        stderr.print(line, highlight=False, soft_wrap=True, markup=False)

    loaded = read_config(config, override, ext_var, include_package)
    caches = [] if vectors is None else use_vectors(loaded, vectors)
    resolved = resolve(EXPERIMENT, loaded)
    if not overwrite:
        check_output_dir(out)
    fetch_missing(vectors, caches, say)
    settle_vectors(resolved, say)
    model = Teacher(teacher)
    texts, cosine = build(EXPERIMENT, resolved).distil(
        out,
        resolved,
        texts_of(files, column or ["title", "text"], on_error),
        CachedTeacher(said or Path(f"{out}.said"), model.name, model.encode),
        epochs,
        rate,
    )
    stderr.print(f"{texts:,} texts; cosine to the teacher {cosine:.3f} on those kept out", highlight=False)
    print(out)
