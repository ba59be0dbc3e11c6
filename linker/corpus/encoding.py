"""What a corpus stores of posts beside their fields: what the features of a model read, and signatures."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from linker.corpus.indexes.near_duplicates import SIGNATURES, signed
from linker.corpus.indexes.vectors import VECTORS, packed
from linker.data.languages import languages_of
from linker.data.types import Post
from linker.models.features.postings import postings_of
from linker.models.features.text_encoder import TextEncoder
from linker.models.model import Model

#: Stop words of explanations.
ENGLISH = "english"
#: Before the name of stop words: the name of the file of words without these.
WORDS = "plain-words."


def encoded(model: Model, posts: Sequence[Post]) -> dict[str, dict[str, np.ndarray]]:
    """Return the files of arrays that a corpus stores of some posts."""
    texts = [post.text for post in posts]
    # What else an article in another language reads is stored when there is one.
    suited = [model.suited_to((), languages) for languages in (Counter[str](), languages_of(posts))]
    read = {feature.encoder for part in suited for feature in part.features()}
    files = {
        name: packed(encoder.post_vectors(posts))
        for name, encoder in encoders(model).items()
        if encoder in read
    }
    files[SIGNATURES] = signed(texts)
    for stop_words in word_lists(model):
        files[WORDS + stop_words] = postings_of(texts, stop_words)
    return files


def encoders(model: Model) -> Mapping[str, TextEncoder]:
    """Return what embeds posts for a model, by the names of the files; the first one is `embeddings`."""
    distinct = list(dict.fromkeys(feature.encoder for feature in model.features() if feature.encoder))
    return {f"{VECTORS}-{number}" if number else VECTORS: encoder for number, encoder in enumerate(distinct)}


def word_lists(model: Model) -> Sequence[str]:
    """Return the lists of stop words without which a model counts words, but for those of other languages."""
    features = model.suited_to((), Counter()).features()
    counted = (words for feature in features for words in feature.stop_words_for(()))
    return list(dict.fromkeys([ENGLISH, *counted]))
