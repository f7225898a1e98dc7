"""How many of the best are wanted."""


def checked_top(top: int | None, most: int) -> int:
    """A number of 1 or more, at most ``most``; ``most`` where none is given.

    Raises:
        ValueError: another number.
    """
    if top is None:
        return most
    if top < 1:
        raise ValueError(f"top is {top}; expected 1 or more")
    return min(top, most)
