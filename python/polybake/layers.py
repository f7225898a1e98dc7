"""Building blocks of networks of one's own, as ONNX operators and without a framework.

They are ``onnxscript.nn.Module`` classes, functions of a builder, and the table `ACTIVATIONS`;
`write_network` makes an ONNX file.
"""

from polybake.baking.layers.activations import ACTIVATIONS
from polybake.baking.layers.attention import attend, padding_bias, split_heads
from polybake.baking.layers.convolution import BatchNorm, Conv1d, Conv2d
from polybake.baking.layers.embedding import Embedding
from polybake.baking.layers.linear import Linear
from polybake.baking.layers.lstm import LstmLayers
from polybake.baking.layers.network import write_network
from polybake.baking.layers.norms import LayerNorm, RMSNorm

__all__ = [
    "ACTIVATIONS",
    "BatchNorm",
    "Conv1d",
    "Conv2d",
    "Embedding",
    "LayerNorm",
    "Linear",
    "LstmLayers",
    "RMSNorm",
    "attend",
    "padding_bias",
    "split_heads",
    "write_network",
]
