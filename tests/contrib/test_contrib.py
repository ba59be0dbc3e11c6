"""The components of the papers in linker/contrib are found without options."""

from linker.config.registry import Catalog


def test_every_component_is_found_without_options_and_loads() -> None:
    catalog = Catalog()
    found = {
        name: reference
        for family in catalog.families()
        for name, reference in catalog.components(family).items()
        if reference.startswith("linker.contrib.")
    }
    assert {reference.split(".")[2] for reference in found.values()} == {"deboom2016", "wrapresentations"}
    for name in ("passages", "median_based", "drop_then_stop", "labeled_texts", "class_pairs"):
        module, _, class_name = found[name].partition(":")
        assert catalog.load(found[name]).__name__ == class_name
        assert catalog.load(found[name]).__module__ == module
