"""Check that nothing but an earlier bake is overwritten."""

from contextlib import suppress
from pathlib import Path

from polybake.base.modelfile import container
from polybake.errors import InputError


def check_place(out: Path, weights: str) -> Path | None:
    """Check that an existing file is an earlier bake, which may be overwritten with its weights.

    Args:
        out: The model file to write.
        weights: The name of the file of weights to write beside it, or empty.

    Returns:
        The weights of the earlier bake, where they lie beside it under its own name.

    Raises:
        InputError: It is something else, such as the source or the weights of another model.
    """
    if out.exists() and not (out.is_file() and container.is_baked(out)):
        raise InputError(
            f"{out}: is there already, and is no file that polybake wrote; "
            "choose another --output, or remove it"
        )
    earlier = None
    with suppress(InputError):  # there is none, or it lacks its weights
        earlier = container.read_head(out).weights_path
    place = out.with_name(weights) if weights else None
    if place is not None and place.exists() and place != earlier:
        raise InputError(
            f"{place}: is there already, and holds no weights of {out}; choose another --output, "
            "or remove it"
        )
    return earlier if earlier == out.with_suffix(".weights") else None
