"""A static embedding: each token's row of a table, whatever its neighbours.

Source: sentence-transformers ``StaticEmbedding``, model2vec ``StaticModel``.
"""

from pathlib import Path
from typing import Self

from onnxscript import OpBuilder, ir, nn

from polybake.baking.layers.stored_tensor import StoredTensor, stored_tensors
from polybake.errors import InputError

_FLOATS = ("F64", "F32", "F16", "BF16")
#: model2vec quantizes by one scale for the whole table and drops it: the numbers are the vectors.
_ROWS = (*_FLOATS, "I8")
_IDS = ("I64", "I32")


class StaticEmbedding(nn.Module):
    """Rows of a table ``[rows, size]``, one for each token id.

    An optional mapping ``[ids]`` has the row of each id, and optional weights ``[ids]`` its factor.
    """

    def __init__(
        self,
        embeddings: StoredTensor,
        mapping: StoredTensor | None = None,
        weights: StoredTensor | None = None,
    ) -> None:
        super().__init__()
        self.embeddings = _parameter(embeddings)
        self.mapping = _parameter(mapping, ir.DataType.INT64) if mapping else None
        self.weights = _parameter(weights) if weights else None

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what sentence-transformers or model2vec saved.

        Source: sentence-transformers ``StaticEmbedding.load``.
        """
        tensors = {tensor.name: tensor for tensor in stored_tensors(path)}
        known = {"embeddings", "mapping", "weights"}
        if [*tensors] == ["embedding.weight"]:
            return cls(_checked(tensors["embedding.weight"], 2, _ROWS))
        if "embeddings" not in tensors or tensors.keys() - known:
            raise InputError(
                f"{path}: holds {', '.join(sorted(tensors)) or 'no tensor'}; expected "
                "embedding.weight, or embeddings with mapping and weights where it has them"
            )
        mapping, weights = tensors.get("mapping"), tensors.get("weights")
        embedding = cls(
            _checked(tensors["embeddings"], 2, _ROWS),
            _checked(mapping, 1, _IDS) if mapping else None,
            _checked(weights, 1, _FLOATS) if weights else None,
        )
        if weights is not None and weights.shape[0] < embedding.ids:
            raise InputError(
                f"{path}: has weights of {weights.shape[0]} ids and embeddings of {embedding.ids}; "
                "download it again"
            )
        return embedding

    @property
    def ids(self) -> int:
        """How many token ids have a row."""
        return _length(self.embeddings if self.mapping is None else self.mapping)

    def forward(self, op: OpBuilder, input_ids: ir.Value, attention_mask: ir.Value) -> ir.Value:  # noqa: ARG002 - what every encoder takes
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, sequence, size]``."""
        indices = input_ids if self.mapping is None else op.Gather(self.mapping, input_ids)
        rows: ir.Value = op.Gather(self.embeddings, indices)
        if self.weights is None:
            return rows
        return op.Mul(rows, op.Unsqueeze(op.Gather(self.weights, input_ids), axes=[-1]))


def _parameter(tensor: StoredTensor, dtype: ir.DataType = ir.DataType.FLOAT) -> nn.Parameter:
    return nn.Parameter(tensor.shape, data=tensor.lazy(dtype=dtype))


def _checked(tensor: StoredTensor, axes: int, dtypes: tuple[str, ...]) -> StoredTensor:
    if len(tensor.shape) != axes or 0 in tensor.shape or tensor.dtype not in dtypes:
        raise InputError(
            f"{tensor.file}: {tensor.name} is {tensor.dtype} {list(tensor.shape)}, expected "
            f"{axes} axes of {', '.join(dtypes)}; download it again"
        )
    return tensor


def _length(parameter: nn.Parameter) -> int:
    return parameter.shape[0]  # type: ignore[index,return-value] # all its axes are known
