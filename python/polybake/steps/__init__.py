"""The post-processing steps, by the name that polybake.toml and the manifest use."""

from polybake.steps.activation import Activation
from polybake.steps.cnn import Cnn
from polybake.steps.dense import Dense
from polybake.steps.dropout import Dropout
from polybake.steps.keep_largest import KeepLargest
from polybake.steps.layer_norm import LayerNorm
from polybake.steps.leave_out import LeaveOut
from polybake.steps.leave_out_ends import LeaveOutEnds
from polybake.steps.lstm import Lstm
from polybake.steps.normalize import Normalize
from polybake.steps.onnx_fragment import OnnxFragment
from polybake.steps.pca import Pca
from polybake.steps.pool import Pool
from polybake.steps.python_file import PythonFile
from polybake.steps.quantize import Quantize
from polybake.steps.remove_components import RemoveComponents
from polybake.steps.route import Route
from polybake.steps.scale import Scale
from polybake.steps.select import Select
from polybake.steps.spans import Spans
from polybake.steps.splade import Splade
from polybake.steps.state import Arrays, Floats, State, Values
from polybake.steps.step import Step
from polybake.steps.subtract import Subtract
from polybake.steps.tied_dense import TiedDense
from polybake.steps.truncate import Truncate
from polybake.steps.unpad import Unpad
from polybake.steps.weighted_layer_pooling import WeightedLayerPooling
from polybake.steps.whiten import Whiten
from polybake.steps.word_weights import WordWeights

_ALL: tuple[type[Step], ...] = (
    Pool,
    Normalize,
    Subtract,
    Scale,
    Dense,
    LayerNorm,
    Dropout,
    Cnn,
    Lstm,
    LeaveOut,
    LeaveOutEnds,
    WordWeights,
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
    "Cnn",
    "Dense",
    "Dropout",
    "Floats",
    "KeepLargest",
    "LayerNorm",
    "LeaveOut",
    "LeaveOutEnds",
    "Lstm",
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
    "WordWeights",
]
