"""Range checks of arguments. A config turns the `ValueError` into `path: message`."""


def at_least(least: float, **values: float | None) -> None:
    """Refuse values under `least`; None passes.

    Raises:
        ValueError: naming the value and the bound.
    """
    for name, value in values.items():
        if value is not None and not value >= least:
            raise ValueError(f"{name} is {value}, but must be at least {least}")


def above(bound: float, **values: float | None) -> None:
    """Refuse values that are not greater than `bound`; None passes.

    Raises:
        ValueError: naming the value and the bound.
    """
    for name, value in values.items():
        if value is not None and not value > bound:
            raise ValueError(f"{name} is {value}, but must be above {bound}")


def between(low: float, high: float, **values: float | None) -> None:
    """Refuse values outside `low` to `high`, both allowed; None passes.

    Raises:
        ValueError: naming the value and the bounds.
    """
    for name, value in values.items():
        if value is not None and not low <= value <= high:
            raise ValueError(f"{name} is {value}, but must be between {low} and {high}")
