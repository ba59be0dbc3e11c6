"""Warnings about articles and posts in languages that a model was not trained on."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from linker.common.console import warn
from linker.data.languages import among_posts, language_name, language_of
from linker.data.types import Article
from linker.models.model import Model, all_submodels

#: Share of posts in other languages from which on a warning is due. International news have a tenth of them.
_NOTABLE = 0.15
_SHOWN = 3
RECIPE = "configs/minilm/multilingual.jsonnet"


def warn_of_languages(model: Model, articles: Sequence[Article], of_posts: Counter[str]) -> None:
    """Print `language_warning`, if there is any, each once."""
    if (sentence := language_warning(model, articles, of_posts)) is not None:
        _warn_once(sentence)


def language_warning(model: Model, articles: Sequence[Article], of_posts: Counter[str]) -> str | None:
    """Return a warning if an article, or 15 % of the posts, are in a language that the model was not trained on.

    Args:
        model: the model; there is no warning if it does not state its languages.
        articles: the query.
        of_posts: languages of some of the posts, from `languages_of`.

    Returns:
        One line: what was found, what it means for the ranking, and what to do. None: nothing to warn of.
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
        guessed = any(language_of(article) is None for article in articles)
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


@lru_cache(maxsize=64)
def _warn_once(sentence: str) -> None:
    """Print a sentence once: a loop over articles ranks the same posts repeatedly."""
    warn(f"warning: {sentence}")
