"""The post-processing steps, by the name that polybake.toml and the manifest use."""

from polybake.baking.steps.elements import KeepLargest, Select, Truncate
from polybake.baking.steps.elementwise import (
    Activation,
    Dropout,
    LayerNorm,
    Normalize,
    Scale,
    Subtract,
)
from polybake.baking.steps.hybrid import Hybrid
from polybake.baking.steps.onnx_fragment import OnnxFragment
from polybake.baking.steps.pool import Pool
from polybake.baking.steps.projections import Dense, Pca, RemoveComponents, TiedDense, Whiten
from polybake.baking.steps.python_file import PythonFile
from polybake.baking.steps.quantize import Quantize
from polybake.baking.steps.route import Route
from polybake.baking.steps.spans import Spans
from polybake.baking.steps.splade import Splade
from polybake.baking.steps.state import Arrays, Floats, State, Values
from polybake.baking.steps.step import Step
from polybake.baking.steps.tokens import LeaveOut, LeaveOutEnds, Unpad
from polybake.baking.steps.weighted_layer_pooling import WeightedLayerPooling

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
