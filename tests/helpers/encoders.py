"""The part of a model that embeds texts."""

from linker.models.model import EncoderModel, Model, embedding_submodel


def encoder(model: Model) -> EncoderModel:
    found = embedding_submodel(model)
    assert found is not None
    return found
