"""Warnings about a query: languages that a model was not trained on, and articles that are unlike."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import lru_cache
from itertools import combinations

from linker.common.console import warn
from linker.data.languages import among_posts, language_name, language_of, language_of_most
from linker.data.post_filter import in_utc
from linker.data.types import Article
from linker.models.features.content_words import is_content_word, words_of
from linker.models.model import Model, all_submodels

#: Share of posts in other languages from which on a warning is due. International news have a tenth of them.
_NOTABLE = 0.15
_SHOWN = 3
# Thresholds of `several_warning`, chosen on 2026-11-27. Stories of the sample last 73 days at most. Two articles share
# less than 8 % of the content words of the shorter one in 6 % of the pairs on one story in the sample and 0.2 % in the
# Fake News Challenge, and in 88 and 80 % of other pairs. If one of five articles is unlike, four of ten pairs are.
_FAR_APART = timedelta(days=90)
_UNLIKE, _MOST_PAIRS = 0.08, 0.3
# Shorter articles, such as headlines, are not compared, nor more than these.
_LEAST_WORDS, _COMPARED = 100, 100
RECIPE = "configs/minilm/multilingual.jsonnet"


@lru_cache(maxsize=64)
def warn_once(sentence: str | None) -> None:
    """Print a warning, if there is one, once: a loop over articles ranks the same posts repeatedly."""
    if sentence is not None:
        warn(f"warning: {sentence}")


def language_warning(model: Model, articles: Sequence[Article], of_posts: Counter[str]) -> str | None:
    """Return a warning if an article, or 15 % of the posts, are in a language that the model was not trained on.

    There is none (None) if the model does not state its languages. `of_posts` are from `languages_of`. The warning is
    one line: what was found, what it means for the ranking, and what to do.
    """
    stated = [part for part in all_submodels(model) if part.languages]
    if not stated:
        return None
    known = {language for part in stated for language in part.languages or ()}
    counted = among_posts(articles, of_posts)
    of_articles = Counter(language for article in counted if (language := language_of(article)))
    foreign = _without(of_articles, known)
    others = _without(of_posts, known)
    notable = others.total() >= _NOTABLE * max(of_posts.total(), 1)
    if not foreign and not notable:
        return None
    found = []
    if foreign:
        count = "article" if len(articles) == 1 else f"{foreign.total()} of {len(articles)} articles"
        guessed = any(language_of(article, language_of_most(of_posts)) is None for article in articles)
        by = " (as most posts: the text is too short to tell)" if guessed else ""
        found.append(f"{count}: {_listed(map(language_name, foreign))}{by}")
    if notable:
        found.append(f"posts: {_shares(others, of_posts.total())}")
    if foreign and any(part.adapts_to_languages for part in stated):
        effect = "words that article and posts share lead the ranking"
    else:
        effect = "it misses posts in other languages unless they share names or other words"
    names = _listed(map(language_name, sorted(known))) if len(known) <= _SHOWN else f"{len(known)} languages"
    return (
        f"{'; '.join(found)}. The model was trained on {names}: {effect}. "
        f"For other languages, train a multilingual model: linker train {RECIPE} --data DIR"
    )


def several_warning(articles: Sequence[Article]) -> str | None:
    """Return a warning if articles of one query were published far apart, or share few words; None: neither."""
    times = sorted(in_utc(article.published) for article in articles if article.published)
    span = times[-1] - times[0] if times else timedelta()
    reasons = [f"were published {span.days:,} days apart"] * (span > _FAR_APART)
    long = [article for article in articles if article.words >= _LEAST_WORDS][:_COMPARED]
    words = [{*filter(is_content_word, words_of(article.full_text))} for article in long]
    unlike = [len(one & other) < _UNLIKE * min(len(one), len(other)) for one, other in combinations(words, 2)]
    if len({*map(language_of, long)}) == 1 and sum(unlike) > _MOST_PAIRS * len(unlike):
        reasons.append("share few words")
    if not reasons:
        return None
    return (
        f"{len(articles):,} articles {' and '.join(reasons)}, but are one query, whose scores are means "
        "over them; for a ranking of the posts for each article, add --each (in Python: rank_each)"
    )


def _without(counts: Counter[str], known: set[str]) -> Counter[str]:
    return Counter({language: count for language, count in counts.items() if language not in known})


def _shares(counts: Counter[str], total: int) -> str:
    """Return `83 % German, 5 % French, 2 % others`."""
    most = counts.most_common(_SHOWN)
    shown = [*((language_name(language), count) for language, count in most)]
    shown.append(("others", counts.total() - sum(count for _, count in most)))
    return ", ".join(f"{share} % {name}" for name, count in shown if (share := round(100 * count / total)))


def _listed(names: Iterable[str]) -> str:
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last
