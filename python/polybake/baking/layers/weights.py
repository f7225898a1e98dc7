"""Give a network's parameters the weights of a checkpoint, one tensor in memory at a time."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from onnxscript import nn

from polybake.baking.layers.linear import Linear
from polybake.baking.layers.stored_tensor import StoredTensor, stored_tensors
from polybake.errors import InputError

#: The dtypes that are widened to float32, like by transformers' ``dtype="float32"``.
_FLOATS = ("F32", "F16", "BF16")

#: Names of TensorFlow's layer normalisation, which old checkpoints carry.
_OLD_NAMES = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}

#: Problems of each kind that a message shows; a checkpoint has thousands of weights.
_SHOWN = 3

#: A number that PyTorch's batch normalisation counts in training, and needs for nothing else.
_COUNTER = "num_batches_tracked"

#: What may stand before each name in a checkpoint, such as ``bert.``; several if it has several.
Prefix = str | tuple[str, ...]

#: From tensors by their names in the files to tensors by the names of a module tree.
Arranged = Callable[[dict[str, StoredTensor]], Mapping[str, StoredTensor]]


def bare_name(name: str, prefix: Prefix) -> str:
    """Return a tensor's name without the first of the possible prefixes that it has."""
    prefixes = (prefix,) if isinstance(prefix, str) else prefix
    return name.removeprefix(next(filter(name.startswith, prefixes), ""))


def load_weights(
    network: nn.Module,
    files: Sequence[Path],
    *,
    prefix: Prefix = "",
    ignored: tuple[str, ...] = (),
    arranged: Arranged = dict,
    scope: str = "",
) -> None:
    """Give every parameter of ``network`` its tensor, which is read only when it is written.

    ``network`` was called already, so that its parameters have their whole names, which begin with
    ``scope`` in the graph. A `Linear` weight is transposed from ``[out, in]``. ``ignored`` are
    prefixes of names that the network does not need, and ``arranged`` returns the tensors by the
    names of the network.
    """
    stored = dict(arranged(_stored(files, prefix, ignored)))
    problems: dict[str, list[str]] = defaultdict(list)
    for whole, parameter, transposed in parameters(network):
        name = whole.removeprefix(scope)
        tensor = stored.pop(name, None)
        if tensor is None:
            problems["missing"].append(f"missing {name}")
            continue
        expected = tuple(size for size in parameter.shape or () if isinstance(size, int))
        stored_shape = expected[::-1] if transposed else expected
        if tensor.shape != stored_shape:
            problems["of another shape"].append(
                f"{name} has shape {list(tensor.shape)}, expected {list(stored_shape)}"
            )
        elif tensor.dtype not in _FLOATS:
            problems["of another dtype"].append(
                f"{name} is {tensor.dtype}, expected one of {', '.join(_FLOATS)}"
            )
        else:
            parameter.const_value = tensor.lazy(transposed=transposed)
    if stored:
        problems["unexpected"] = [f"unexpected {name}" for name in stored]
    if problems:
        raise InputError(
            f"{files[0]}: does not fit the network: {_first_of_each(problems)}; "
            "use a configuration and weights that were saved together"
        )


def _first_of_each(problems: Mapping[str, list[str]]) -> str:
    """The first problems of each kind, and how many more there are."""
    shown: list[str] = []
    for kind, texts in problems.items():
        shown += texts[:_SHOWN]
        if len(texts) > _SHOWN:
            shown.append(f"{len(texts) - _SHOWN} more {kind}")
    return "; ".join(shown)


def parameters(network: nn.Module) -> Iterator[tuple[str, nn.Parameter, bool]]:
    """Yield each parameter's checkpoint name, the parameter, and whether it is transposed.

    The names are those in the graph, once the network was called.
    """
    for module in dict.fromkeys(network.modules()):
        for parameter in module.parameters(recurse=False):
            transposed = isinstance(module, Linear) and module.transposed
            yield str(parameter.name), parameter, transposed and len(parameter.shape or ()) > 1


def _stored(
    files: Sequence[Path], prefix: Prefix, ignored: tuple[str, ...]
) -> dict[str, StoredTensor]:
    """Return the tensors that are not ignored, by their names in the module tree."""
    stored: dict[str, StoredTensor] = {}
    for tensor in chain.from_iterable(map(stored_tensors, files)):
        name = _known_as(tensor.name, prefix)
        if name.startswith(ignored) or name.endswith(_COUNTER):
            continue
        first = stored.setdefault(name, tensor)
        if first is not tensor and _differ(first, tensor):
            raise InputError(
                f"{tensor.file}: {tensor.name} differs from {first.name} of {first.file.name}, "
                "expected one value of one weight; save the model without the one that is not its"
            )
    return stored


def _differ(tensor: StoredTensor, other: StoredTensor) -> bool:
    # A dtype that is no float is reported elsewhere, and NumPy may not know it.
    return tensor.dtype != other.dtype or (tensor.dtype in _FLOATS and not tensor.equals(other))


def _known_as(name: str, prefix: Prefix) -> str:
    name = bare_name(name, prefix)
    for old, new in _OLD_NAMES.items():
        if name.endswith(old):
            return name.removesuffix(old) + new
    return name
