"""The post-processing steps, by the name that polybake.toml and the manifest use."""

from polybake.baking.steps.activation import Activation
from polybake.baking.steps.dense import Dense
from polybake.baking.steps.dropout import Dropout
from polybake.baking.steps.hybrid import Hybrid
from polybake.baking.steps.keep_largest import KeepLargest
from polybake.baking.steps.layer_norm import LayerNorm
from polybake.baking.steps.leave_out import LeaveOut
from polybake.baking.steps.leave_out_ends import LeaveOutEnds
from polybake.baking.steps.normalize import Normalize
from polybake.baking.steps.onnx_fragment import OnnxFragment
from polybake.baking.steps.pca import Pca
from polybake.baking.steps.pool import Pool
from polybake.baking.steps.python_file import PythonFile
from polybake.baking.steps.quantize import Quantize
from polybake.baking.steps.remove_components import RemoveComponents
from polybake.baking.steps.route import Route
from polybake.baking.steps.scale import Scale
from polybake.baking.steps.select import Select
from polybake.baking.steps.spans import Spans
from polybake.baking.steps.splade import Splade
from polybake.baking.steps.state import Arrays, Floats, State, Values
from polybake.baking.steps.step import Step
from polybake.baking.steps.subtract import Subtract
from polybake.baking.steps.tied_dense import TiedDense
from polybake.baking.steps.truncate import Truncate
from polybake.baking.steps.unpad import Unpad
from polybake.baking.steps.weighted_layer_pooling import WeightedLayerPooling
from polybake.baking.steps.whiten import Whiten

_ALL: tuple[type[Step], ...] = (
    Pool,
    Normalize,
    Subtract,
    Scale,
    Dense,
    LayerNorm,
    Dropout,
    LeaveOut,
    LeaveOutEnds,
    WeightedLayerPooling,
    Truncate,
    Whiten,
    Pca,
    RemoveComponents,
    OnnxFragment,
    PythonFile,
    Activation,
    Select,
    Splade,
    KeepLargest,
    Spans,
    Unpad,
    Quantize,
    Route,
)

STEPS: dict[str, type[Step]] = {step.name: step for step in _ALL}

__all__ = [
    "STEPS",
    "Activation",
    "Arrays",
    "Dense",
    "Dropout",
    "Floats",
    "Hybrid",
    "KeepLargest",
    "LayerNorm",
    "LeaveOut",
    "LeaveOutEnds",
    "Normalize",
    "OnnxFragment",
    "Pca",
    "Pool",
    "PythonFile",
    "Quantize",
    "RemoveComponents",
    "Route",
    "Scale",
    "Select",
    "Spans",
    "Splade",
    "State",
    "Step",
    "Subtract",
    "TiedDense",
    "Truncate",
    "Unpad",
    "Values",
    "WeightedLayerPooling",
    "Whiten",
]
