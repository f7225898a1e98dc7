"""The proof that a GPU runs a model."""

import re

from .errors import DeviceError
from .model import Model
from .session import PROVIDERS

#: Operators that do most of the work, also those that onnxruntime makes of several.
_PRODUCTS = re.compile("MatMul|Gemm|Attention")


def check_products(model: Model) -> None:
    """Ask onnxruntime where it puts the matrix products of a model that was opened on ``cuda``.

    A GPU's provider leaves computations on shapes to the CPU, so not every node must be its own.

    Raises:
        DeviceError: the GPU does not run every product.
    """
    parts = model._opened().graph.get_provider_graph_assignment_info()
    nodes = [(node.op_type, part.ep_name) for part in parts for node in part.get_nodes()]
    elsewhere = [node for node in nodes if node[1] != PROVIDERS["cuda"]]
    stray = [node for node in elsewhere if _PRODUCTS.search(node[0])]
    if stray or elsewhere == nodes:
        found = "{} is on {}".format(*stray[0]) if stray else f"no node is on {PROVIDERS['cuda']}"
        raise DeviceError(
            f'device "cuda" does not run the graph: {found}; '
            "check the GPU driver and the CUDA libraries, and that the file is not in int8"
        )
