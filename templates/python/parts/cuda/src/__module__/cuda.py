"""The proof that a GPU runs a model."""

import re

from .errors import DeviceError
from .graph import PROVIDERS
from .model import Model

#: Operators that do most of the work, also those that onnxruntime makes of several.
_PRODUCTS = re.compile("MatMul|Gemm|Attention")


def check_products(model: Model) -> None:
    """Ask onnxruntime where it puts the matrix products of a model that was opened on ``cuda``.

    A GPU's provider leaves computations on shapes to the CPU, so not every node must be its own.

    Raises:
        DeviceError: the GPU does not run every product.
    """
    parts = model._session().graph.get_provider_graph_assignment_info()
    nodes = [(part.ep_name, node.op_type) for part in parts for node in part.get_nodes()]
    products = {provider for provider, operator in nodes if _PRODUCTS.search(operator)}
    every = {provider for provider, _ in nodes}
    if products - {PROVIDERS["cuda"]} or PROVIDERS["cuda"] not in every:
        running = " and ".join(sorted(products or every))
        raise DeviceError(
            f'device "cuda" does not run the graph, {running} does; '
            "check the GPU driver and the CUDA libraries"
        )
