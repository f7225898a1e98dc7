"""The inputs of an encoder alone, and which of its tokens count."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from polybake.baking.sources.source import SourceReference
from polybake.base.modelfile.manifest import SOUGHT, Contract


class Taken(NamedTuple):
    """The inputs of an encoder; each array is int64 ``[batch, sequence]``.

    Attributes:
        fed: The inputs by name.
        ids: The token ids that the encoder sees.
        counted: 1 at tokens that count.
        sought: 1 where answers are sought; None if no input says so.
    """

    fed: Mapping[str, NDArray[np.int64]]
    ids: NDArray[np.int64]
    counted: NDArray[np.int64]
    sought: NDArray[np.int64] | None = None


def expanded(
    contract: Contract, fed: Mapping[str, NDArray[np.int64]], reference: SourceReference
) -> Taken:
    """Convert the rows of a baked graph to its encoder's inputs."""
    names = {item.feed: item.name for item in contract.inputs}
    ids, mask = fed[names["input_ids"]], fed[names["attention_mask"]]
    if "token_type_ids" in names:
        types = fed[names["token_type_ids"]]
        own = {names["token_type_ids"]: types % SOUGHT}
        return Taken({**fed, **own}, ids, mask, types // SOUGHT)
    if reference.augmentation is None:
        return Taken(fed, ids, mask)
    tokens = reference.augmentation.numpy(ids, mask, fed["route"])
    own = {names["input_ids"]: tokens.ids, names["attention_mask"]: tokens.attended}
    return Taken({**fed, **own}, tokens.ids, tokens.counted)
