"""Check that nothing but an earlier bake is overwritten."""

from contextlib import suppress
from pathlib import Path

from polybake.base.modelfile import container
from polybake.base.modelfile.weights import weights_name
from polybake.errors import InputError


def check_place(out: Path) -> Path | None:
    """Check that an existing file is an earlier bake, which may be overwritten.

    Returns:
        The weights of the earlier bake, where they lie beside it under its own name.

    Raises:
        InputError: It is something else, such as the source.
    """
    if out.exists() and not (out.is_file() and container.is_baked(out)):
        raise InputError(
            f"{out}: is there already, and is no file that polybake wrote; "
            "choose another --output, or remove it"
        )
    with suppress(InputError):  # there is none, or it lacks its weights
        weights = container.read_head(out).manifest.weights
        if weights is not None and weights.file == weights_name(out.stem, weights.sha256):
            return out.with_name(weights.file)
    return None
