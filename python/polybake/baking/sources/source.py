"""A source: the result of opening any kind of model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from onnxscript import GraphBuilder, ir

from polybake.baking.sources.query_augmentation import QueryAugmentation
from polybake.baking.steps import Step
from polybake.baking.steps.state import Values
from polybake.baking.tokenizer.pair_prompt import PairPrompt
from polybake.base.files.model_folder import ModelFolder
from polybake.base.modelfile.manifest import Input, Similarity
from polybake.config import RerankTable
from polybake.runtime.tokenizer import BakedTokenizer, Side

Recipe = tuple[dict[str, object], ...]

#: The steps that sentence-transformers takes without a modules.json.
MEAN: Recipe = ({"step": "pool", "mode": "mean"},)


@dataclass(frozen=True)
class EncoderGraph:
    """An encoder placed in a graph, ready for steps to be folded over it.

    Attributes:
        model: The graph with its inputs set and no outputs yet.
        builder: Adds nodes to that graph; it knows the existing constants.
        inputs: The inputs that a client feeds, all int64.
        state: The values that the steps begin with; embeddings are float32 ``[batch, sequence,
            hidden]``, or ``[batch, dimension]`` if the source pools on its own.
        routes: The names of the routes among which ``state.route`` chooses.
        pad_side: The side that is padded; None leaves it to the tokenizer.
        typed: Whether the tokens of a pair have types; None where it makes no difference.
    """

    model: ir.Model
    builder: GraphBuilder
    inputs: tuple[Input, ...]
    state: Values
    routes: tuple[str, ...] = ()
    pad_side: Side | None = None
    typed: bool | None = None


@dataclass(frozen=True)
class SourceReference:
    """A file whose output is the steps' input, used to prove a bake.

    Attributes:
        hidden_states: The names of the outputs with the encoder's hidden states, if any.
        augmentation: The augmentation of rows before the encoder; None without augmentation.
    """

    path: Path
    output: str
    hidden_states: tuple[str, ...] = ()
    augmentation: QueryAugmentation | None = None


class Encoder(Protocol):
    """An encoder that can be placed in a graph."""

    @property
    def name(self) -> str:
        """The architecture, or ``onnx``."""

    @property
    def proves(self) -> Literal["steps", "source"]:
        """How far a comparison with `reference` proves a bake."""

    def for_pairs(self, gives_types: Callable[[], bool]) -> "Encoder":
        """Return the encoder of pairs of texts."""

    def place(self) -> EncoderGraph:
        """Build or load the encoder's graph, anew at each call."""

    def reference(self, folder: Path) -> SourceReference:
        """Return the encoder as a separate file, written to ``folder`` if necessary."""


#: A function that finds the encoder in its folder; the tokenizer has the longest length.
OpenEncoder = Callable[[ModelFolder, BakedTokenizer], Encoder]


#: The kind of a head: the ending of transformers' name of the architecture.
HeadKind = Literal[
    "ForSequenceClassification",
    "ForTokenClassification",
    "ForQuestionAnswering",
    "ForMaskedLM",
    "ForCausalLM",
    "HF_ColBERT",
    "BGE-M3",
]


@dataclass(frozen=True)
class TaskHead:
    """The layers behind the encoder of a checkpoint that was trained for a task.

    Attributes:
        kind: The kind of the head's output.
        steps: Reads the layers. They turn token embeddings into a number for each label, ``[batch,
            labels]`` or ``[batch, sequence, labels]``, into two numbers for a beginning and an end,
            into one for each token of the vocabulary, ``[batch, sequence, tokens]``, or into the
            three outputs of the step `Hybrid`.
        labels: The label of each number; empty without labels.
        scores: The function that makes scores of the numbers; None leaves them as they are.
        relevance: The function that makes a relevance of a pair's only number; ``identity`` leaves
            it as it is.
        of_pairs: Whether it was saved as a CrossEncoder, whose numbers are of pairs of texts.
        unsaid: The beginning of an error, if no file says what the numbers are and only the user's
            task does; else empty.
    """

    kind: HeadKind
    steps: Callable[[], list[Step]]
    labels: tuple[str, ...] = ()
    scores: Literal["softmax", "sigmoid"] | None = None
    relevance: str = "sigmoid"
    of_pairs: bool = False
    unsaid: str = ""


@dataclass(frozen=True)
class Source:
    """An encoder, its tokenizer, and the settings of its folder.

    Attributes:
        folder: The model's folder, with the modules that the recipe names.
        recipe: The steps that the folder lists, as in polybake.toml; empty if it lists none.
        assumed: The steps that sentence-transformers takes if the source lists none.
        prompts: Prompt texts by name.
        rendered: Whether a chat template wrote the prompts, without which no text is embedded.
        pooled: The same encoder with another output, if it has one that needs no pooling: a pooled
            output, or a head's.
        head: The head behind the encoder, if the model was trained for a task.
        saved_as: The class of sentence-transformers that the folder names; None if it names none.
        labels: The user's names for the numbers of a classifier, if any.
        pair_prompt: What stands around the texts of a pair; None leaves it to the tokenizer.
        rerank: The settings of that prompt, if polybake.toml can have them.
        adapters: The adapters in the checkpoint, of which one may be chosen.
    """

    encoder: Encoder
    tokenizer: BakedTokenizer
    folder: ModelFolder
    recipe: Recipe = ()
    assumed: Recipe = ()
    prompts: Mapping[str, str] = field(default_factory=dict)
    default_prompt: str | None = None
    rendered: bool = False
    similarity: Similarity = "cosine"
    pooled: Encoder | None = None
    head: TaskHead | None = None
    saved_as: str | None = None
    labels: tuple[str, ...] = ()
    pair_prompt: PairPrompt | None = None
    rerank: RerankTable | None = None
    adapters: tuple[str, ...] = ()

    @property
    def max_length(self) -> int:
        """Tokens kept of a text, special tokens included."""
        return self.tokenizer.max_length
