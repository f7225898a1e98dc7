"""What every kind of source is opened to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from onnxscript import GraphBuilder, ir

from polybake.baking.quantization.dequantize import Rebuilt
from polybake.baking.sources.expansion import Expansion
from polybake.baking.steps import Step
from polybake.baking.steps.state import Values
from polybake.base.files.model_folder import ModelFolder
from polybake.base.modelfile.manifest import Input, Similarity
from polybake.runtime.tokenization.tokenizer import BakedTokenizer
from polybake.runtime.tokenization.tokenizer_json import Side

Recipe = tuple[dict[str, object], ...]

#: What sentence-transformers does to token embeddings where no modules.json says otherwise.
MEAN: Recipe = ({"step": "pool", "mode": "mean"},)


@dataclass(frozen=True)
class EncoderGraph:
    """An encoder placed in a graph, ready for steps to be folded over it.

    Attributes:
        model: The graph with its inputs set and no outputs yet.
        builder: Adds nodes to that graph; it knows the constants that are there already.
        inputs: What a client feeds; every one int64.
        state: What the steps begin with; its embeddings are float32 ``[batch, sequence, hidden]``,
            or ``[batch, dimension]`` where the source pools by itself.
        routes: The names of the routes between which ``state.route`` chooses already.
        pad_side: Where rows are filled up; None leaves it to the tokenizer.
    """

    model: ir.Model
    builder: GraphBuilder
    inputs: tuple[Input, ...]
    state: Values
    routes: tuple[str, ...] = ()
    pad_side: Side | None = None


@dataclass(frozen=True)
class RebuiltFrom:
    """A source that an encoder was rebuilt from.

    Attributes:
        path: Its own graph, of the same output.
        rebuilt: What was rebuilt of it.
    """

    path: Path
    rebuilt: Rebuilt


@dataclass(frozen=True)
class SourceReference:
    """A file whose output is what the steps begin with, to prove a bake by.

    Attributes:
        hidden_states: Its outputs that are the encoder's hidden states; empty where it has none.
        rebuilt: What it was rebuilt from; None where it is the source's own graph.
        expansion: What becomes of rows before it; None where they are what is fed.
    """

    path: Path
    output: str
    hidden_states: tuple[str, ...] = ()
    rebuilt: RebuiltFrom | None = None
    expansion: Expansion | None = None


class Encoder(Protocol):
    """An encoder that can be placed in a graph."""

    @property
    def name(self) -> str:
        """The architecture, or ``onnx``."""

    @property
    def proves(self) -> Literal["steps", "source"]:
        """How far a comparison with `reference` proves a bake."""

    def for_pairs(self) -> "Encoder":
        """The same, taking the types of tokens where its table has several."""

    def place(self) -> EncoderGraph:
        """Build or load the encoder's graph, anew at each call."""

    def reference(self, folder: Path) -> SourceReference:
        """Give the encoder as a file of its own, written to ``folder`` where need be."""


#: Finds the encoder in its folder; its tokenizer says how long texts are.
OpenEncoder = Callable[[ModelFolder, BakedTokenizer], Encoder]


#: What a head gives: the ending of transformers' name of the architecture.
HeadKind = Literal[
    "ForSequenceClassification",
    "ForTokenClassification",
    "ForQuestionAnswering",
    "ForMaskedLM",
    "HF_ColBERT",
]


@dataclass(frozen=True)
class TaskHead:
    """The layers that a checkpoint has behind its encoder, where it was trained for a task.

    Attributes:
        kind: What they give.
        steps: Reads them; from token embeddings to a number for each label, ``[batch, labels]`` or
            ``[batch, sequence, labels]``, to two for a beginning and an end, or to one for each
            token of the vocabulary, ``[batch, sequence, tokens]``.
        labels: What each number is called; empty where the user has no names for them.
        scores: What makes scores of the numbers; None leaves them as they are.
        relevance: What makes a relevance of a pair's only number; ``identity`` leaves it as it is.
        of_pairs: Whether it was saved as a CrossEncoder, whose numbers are of pairs of texts.
    """

    kind: HeadKind
    steps: Callable[[], list[Step]]
    labels: tuple[str, ...] = ()
    scores: Literal["softmax", "sigmoid"] | None = None
    relevance: str = "sigmoid"
    of_pairs: bool = False


@dataclass(frozen=True)
class Source:
    """An encoder, its tokenizer, and what its folder says about using them.

    Attributes:
        folder: The model's; modules that the recipe names lie in it.
        recipe: The steps that the folder lists, as in polybake.toml; empty where it lists none.
        assumed: The steps that sentence-transformers takes where the source lists none.
        prompts: Prompt texts by name.
        pooled: The same encoder up to an output of its own, where it has one, over which no step
            pools: pooled already, or a head's.
        head: What stands behind the encoder, where the model was trained for a task.
        saved_as: sentence-transformers' class that the folder is of; None where it does not say.
        labels: What each number of a classifier is called, where the user says it.
    """

    encoder: Encoder
    tokenizer: BakedTokenizer
    folder: ModelFolder
    recipe: Recipe = ()
    assumed: Recipe = ()
    prompts: Mapping[str, str] = field(default_factory=dict)
    default_prompt: str | None = None
    similarity: Similarity = "cosine"
    pooled: Encoder | None = None
    head: TaskHead | None = None
    saved_as: str | None = None
    labels: tuple[str, ...] = ()

    @property
    def max_length(self) -> int:
        """Tokens kept of a text, special tokens included."""
        return self.tokenizer.max_length
