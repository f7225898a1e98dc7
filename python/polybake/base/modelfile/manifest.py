"""The manifest: all that templates and clients may know of a model file."""

import hashlib
import json
import re
from typing import Annotated, ClassVar, Literal

from pydantic import (
    AfterValidator,
    Field,
    JsonValue,
)

from polybake.base.modelfile.record import GrownRecord, Record
from polybake.base.modelfile.weights import Weights
from polybake.errors import InputError

#: The format of the model files that this polybake writes and reads.
FORMAT: Literal[2] = 2

#: The ``max_length`` of a model that cuts no text.
NO_LIMIT = 2**31 - 1

#: The second output of a quantized graph: the vectors before quantization.
UNQUANTIZED = "unquantized_embedding"

#: The names of prompts for documents, in the order of the search. Source: sentence-transformers
#: encode_document.
DOCUMENT_PROMPTS = ("document", "passage", "corpus")

#: This is added to the type of each token of the text in which answers are sought.
SOUGHT = 2

Feed = Literal["input_ids", "attention_mask", "token_type_ids", "position_ids", "prompt_value"]
Similarity = Literal["cosine", "dot", "euclidean", "hamming", "maxsim"]
#: The precision of a graph's large matmuls; ``int4`` is that of their weights alone.
Precision = Literal["float32", "float16", "int8", "int4"]
#: ``checkpoint`` keeps every weight's value; ``float16`` rounds float32 weights, and
#: ``float16-table`` those of the table that token ids choose rows of.
Storage = Literal["checkpoint", "float16", "float16-table"]
#: Where weights lie: ``inside`` the graph's file, or in one of their own ``beside`` it.
WeightsPlace = Literal["inside", "beside"]
#: Which text of a pair is cut, by the name that ``tokenizers`` gives the strategy.
Cut = Literal["longest_first", "only_first", "only_second"]
Verified = Literal["steps", "source"]
#: A part of tokenizer.json that decides ids.
TokenizerPart = Literal["normalizer", "pre_tokenizer", "model"]

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_NAME_LENGTH = 50


def checked_name(name: str) -> str:
    """Return ``name`` when package, module and class names can be derived from it."""
    if not _NAME.fullmatch(name) or len(name) > _NAME_LENGTH:
        raise ValueError(
            f"{name!r} cannot become a package name; expected at most {_NAME_LENGTH} "
            "of a-z, 0-9 and single hyphens, starting with a letter, such as my-model"
        )
    return name


class Input(Record):
    """One graph input. Always int64; ``[batch, sequence]``, but ``[1]`` for ``prompt_value``."""

    name: str
    dtype: Literal["int64"] = "int64"
    feed: Feed
    values: dict[str, int] = Field(
        default_factory=dict,
        description="For prompt_value alone: the number to feed per prompt; '' is no prompt.",
    )


class Output(Record):
    """The graph output that clients read: ``[batch, dimension]``, or the rows of all texts."""

    name: str
    dtype: Literal["float32", "int8", "uint8"] = "float32"
    dimension: int = Field(gt=0, description="Elements of one embedding.")
    packed_bits: bool = Field(
        default=False,
        description="True when each element holds eight dimensions, the first one highest; "
        "an int8 is that byte less 128.",
    )
    counts: str | None = Field(
        default=None,
        description="The output, int64 [batch], that says how many rows are each text's; null "
        "where each text has one.",
    )

    @property
    def dimensions(self) -> int:
        """Dimensions of an embedding: eight per element if bits are packed."""
        return 8 * self.dimension if self.packed_bits else self.dimension

    @property
    def readable(self) -> str:
        """The output in words: ``384 dimensions, float32``, or ``…, packed in 48 uint8``."""
        packed = f"packed in {self.dimension} " if self.packed_bits else ""
        plural = "s" * (self.dimensions > 1)
        return f"{self.dimensions} dimension{plural}, {packed}{self.dtype}"


class Piece(GrownRecord):
    """A part of a pair's row: a special token, or the tokens of one of the texts."""

    later: ClassVar[frozenset[str]] = frozenset({"before", "after", "limit"})

    id: int | None = Field(default=None, ge=0, description="Of a special token.")
    text: Literal[0, 1] | None = Field(default=None, description="Which text stands here.")
    type_id: int = Field(
        ge=0,
        description="Of each of its tokens; 2 more where answers are sought among them.",
    )
    before: str = Field(default="", description="Stands before the text and is tokenised with it.")
    after: str = Field(default="", description="Stands behind the text and is tokenised with it.")
    limit: int | None = Field(
        default=None,
        gt=0,
        description="The text's first tokens that are kept, before the pair is cut; null for all.",
    )


class Pair(Record):
    """How two texts become one row of token ids."""

    pieces: tuple[Piece, ...]
    truncate: Cut = Field(
        default="longest_first", description="Which text is cut where both are too long together."
    )
    truncation_side: Literal["right", "left"] = "right"

    @property
    def special(self) -> int:
        """The number of special tokens."""
        return sum(piece.text is None for piece in self.pieces)

    @property
    def texts(self) -> tuple[Piece, Piece]:
        """The pieces of the first and of the second text."""
        first, second = sorted(
            (piece for piece in self.pieces if piece.text is not None),
            key=lambda piece: piece.text or 0,
        )
        return first, second


class Contract(GrownRecord):
    """What a generated client was written for; clients compare it field by field with a file."""

    later: ClassVar[frozenset[str]] = frozenset({"further_outputs"})

    task: str = Field(default="embed", description="What the file is for, and its client's class.")
    settings: dict[str, JsonValue] = Field(
        default_factory=dict, description="What the task's client knows besides, such as labels."
    )
    pair: Pair | None = Field(
        default=None, description="How the two texts of a row are joined; null for one text a row."
    )
    inputs: tuple[Input, ...]
    output: Output
    further_outputs: tuple[Output, ...] = Field(
        default=(),
        description="What clients read besides, of the same pass; absent where there is none.",
    )
    vocab_size: int = Field(gt=0, description="Token ids that the graph takes are below it.")
    max_length: int = Field(gt=0, description="Tokens kept of a text, special tokens included.")
    pad_id: int = Field(ge=0)
    pad_side: Literal["right", "left"] = "right"
    prompts: dict[str, str] = Field(default_factory=dict, description="Prompt texts by name.")
    default_prompt: str | None = Field(
        default=None, description="The prompt that embed() uses when none is named."
    )

    @property
    def outputs(self) -> tuple[Output, ...]:
        """All outputs that clients read."""
        return (self.output, *self.further_outputs)

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of its canonical form, by which a client knows it."""
        return hashlib.sha256(self.canonical().encode("ascii")).hexdigest()

    def canonical(self) -> str:
        """The contract as JSON with sorted keys and no white space, ASCII only."""
        return json.dumps(
            self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=True
        )


class Deviation(Record):
    """How far vectors of lower precision lie from exact ones, over the golden cases."""

    max_abs: float = Field(description="Largest absolute difference of one element.")
    mean_cosine: float
    min_cosine: float
    answers: int = Field(default=0, description="How many golden answers the task's call has.")
    reordered: int = Field(
        default=0, description="How many of them have other words or places, or another order."
    )


class Provenance(GrownRecord):
    """The origin of the encoder."""

    later: ClassVar[frozenset[str]] = frozenset({"allow_unknown", "attention", "adapter"})

    identifier: str
    revision: str | None = Field(default=None, description="The commit of a hub's repository.")
    licence: str | None = None
    allow_unknown: tuple[str, ...] = Field(
        default=(),
        description="Keys of its files that polybake does not know, and that change no vector as "
        "whoever baked it said; absent where there are none.",
    )
    attention: Literal["both", "causal"] | None = Field(
        default=None,
        description="What tokens attend to, as whoever baked it said; absent where the model's own "
        "files say it.",
    )
    adapter: str | None = Field(
        default=None,
        description="The adapter that is merged into the weights; absent where none is.",
    )


class CachedPrompts(Record):
    """The prompts of a causal model whose keys and values lie in the graph, computed once."""

    tokens: dict[str, int] = Field(
        description="The tokens that are not computed again, by the prompt's name; what stands "
        "around a pair's texts has no name."
    )
    bytes: int = Field(description="The size of the keys and values.")

    @property
    def readable(self) -> str:
        """Such as ``query (22 tokens); 5.0 MB``."""
        prompts = (f"{name or 'of pairs'} ({count} tokens)" for name, count in self.tokens.items())
        return f"{', '.join(prompts)}; {self.bytes / 1e6:.1f} MB"


class TokenizerDifference(Record):
    """What transformers 5 makes of a tokenizer.json, where it gives other token ids."""

    tokenizer_class: str = Field(description="The class that transformers 5 takes.")
    parts: tuple[TokenizerPart, ...] = Field(
        default=(),
        description="The parts of tokenizer.json that this class makes anew, with other ids; empty "
        "where polybake does not know what the class makes.",
    )


class Manifest(GrownRecord):
    """The value of ``polybake.manifest`` in a model file."""

    later: ClassVar[frozenset[str]] = frozenset(
        {"dropped_tokens", "cached", "tokenizer_differs", "weights"}
    )

    format: Literal[2] = FORMAT
    name: Annotated[str, AfterValidator(checked_name)]
    description: str = ""
    contract: Contract
    similarity: Similarity = "cosine"
    precision: Precision = "float32"
    storage: Storage = "checkpoint"
    deviation: Deviation | None = Field(
        default=None,
        description="How far the vectors lie from those of the float32 graph and the checkpoint's "
        "own weights, which is what was proven; null where they are these.",
    )
    steps: tuple[str, ...] = Field(description="The baked steps, readable, in order.")
    encoder: str = Field(description="The encoder's architecture, or 'onnx'.")
    opset: int
    source: Provenance
    generator: str = Field(description="The polybake version that wrote the file.")
    fingerprint: str = Field(description="SHA-256 over all that decides a vector.")
    verified: Verified = Field(description="How far the bake was proven.")
    exposed: tuple[str, ...] = Field(
        default=(), description="Outputs of the graph after the contract's, for debugging."
    )
    dropped_tokens: tuple[str, ...] = Field(
        default=(),
        description="Added tokens of the source's tokenizer that its encoder has no row for: what "
        "spells them is tokenized like any other text.",
    )
    tokenizer_differs: TokenizerDifference | None = Field(
        default=None,
        description="What transformers 5 makes of the source's tokenizer, where its token ids are "
        "not those of tokenizer.json, which are baked; absent where they are equal.",
    )
    cached: CachedPrompts | None = Field(
        default=None,
        description="The prompts that are not computed again for each text; absent where all are.",
    )
    weights: Weights | None = Field(
        default=None,
        description="The file of weights beside the graph; absent where the graph holds them.",
    )


def fingerprint(
    tail_digest: str, tokenizer_digest: str, contract: Contract, weights_digest: str | None = None
) -> str:
    """SHA-256 (hex) over graph, tokenizer, contract, and weights: equal means equal vectors."""
    beside = [] if weights_digest is None else [weights_digest]
    text = "\n".join([tail_digest, tokenizer_digest, contract.canonical(), *beside])
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def parse_manifest(text: str, path: str) -> Manifest:
    """Read a manifest, and refuse a manifest of another format."""
    try:
        data = json.loads(text)
        if not isinstance(data, dict) or type(data.get("format")) is not int:
            raise ValueError("no manifest")
        if data["format"] < FORMAT:
            raise InputError(
                f"{path}: manifest format {data['format']} is older than {FORMAT}; "
                "bake the model again"
            )
        if data["format"] > FORMAT:
            writer = data.get("generator", "an unknown version")
            raise InputError(
                f"{path}: manifest format {data['format']} is newer than {FORMAT}; "
                f"use polybake {writer}, which wrote it"
            )
        return Manifest.model_validate(data)
    except (ValueError, RecursionError) as error:  # pydantic's errors are ValueErrors
        raise InputError(f"{path}: polybake.manifest is damaged; bake the model again") from error
