"""`linker calibrate`: calibrate a model on articles with known posts."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from linker.cli.inputs import LinkedData, PostReading
from linker.cli.options import ModelOrBest
from linker.cli.ranking import print_thresholds
from linker.cli.status import say
from linker.models.pretrained import BEST


def calibrate(
    *,
    data: LinkedData,
    out: Annotated[Path, typer.Option(help="JSON file for the calibration.")],
    model: ModelOrBest = BEST,
    reading: PostReading,
) -> None:
    """Calibrate a model on labeled data: probabilities of relevance, and the precision and recall of thresholds."""
    from linker.common.files import check_writable
    from linker.models.files.resolve import resolve_model

    columns = reading.columns()
    check_writable(out, data.check())
    reference = resolve_model(model)

    from linker.calibration.calibrate import calibrate as fit
    from linker.data.languages import languages_of
    from linker.models.features.feature import word_statistics
    from linker.models.features.memory_table import MemoryTable

    linked = data.read(columns, reading.on_error)
    # Articles are scored independently, as in `linker rank`.
    scorer = reference.load()
    suited = scorer.suited_to(linked.articles, languages_of(linked.posts))
    words = word_statistics(suited.features(), linked.articles, linked.posts)
    # With these counts of words, as later, when the calibration is used.
    scores = scorer.score_table(MemoryTable(linked.posts, words), linked.articles)
    calibration = fit(
        scores,
        linked.relevance(),
        model=reference.name,
        fingerprint=reference.fingerprint,
        scale=scorer.score_scale(),
        words=words,
    )
    calibration.write(out)
    one_in = 1 / calibration.prior
    say(
        f"{calibration.articles:,} articles x {calibration.posts:,} posts: {calibration.relevant_pairs:,} of "
        f"{calibration.pairs:,} pairs are relevant, 1 in {one_in:,.0f}; calibration error "
        f"{calibration.reliability.calibration_error:.2g}, Brier score {calibration.reliability.brier_score:.2g}"
    )
    print_thresholds(sys.stdout, calibration.table(), "pairs kept")
    say(
        f"precision and probabilities hold where 1 pair in {one_in:,.0f} is relevant, as here; where relevance is more "
        "common or rarer, label some of the posts (`linker rank --labels`)"
    )
    print(out)
