"""All that a template may use: names and literals, decided before anything is rendered."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from pydantic import JsonValue

from polybake import __version__
from polybake.base.modelfile.manifest import DOCUMENT_PROMPTS, Contract, Manifest, Output
from polybake.generation.languages import Language
from polybake.generation.names import Names

#: The class of each task's client.
CLIENTS = {
    "embed": "Embedder",
    "classify": "Classifier",
    "classify-pairs": "PairClassifier",
    "rerank": "Reranker",
    "zero-shot": "ZeroShotClassifier",
    "tag": "Tagger",
    "answer": "Answerer",
    "sparse": "SparseEmbedder",
    "multi-vector": "MultiVectorEmbedder",
    "hybrid": "HybridEmbedder",
}

_SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]{0,63}")


@dataclass(frozen=True)
class InputLiterals:
    """An input of the contract: its name as a literal of the language, and its feed."""

    name: str
    feed: str


@dataclass(frozen=True)
class OutputLiterals:
    """An output of the contract; both fields are literals of the language."""

    name: str
    dimension: str


@dataclass(frozen=True)
class Context:
    """The variables of every template.

    ``client`` is the class of the task's clients. ``model``, ``package``, ``module``, ``path`` (of
    folders or files: the
    package in snake case, or what the language makes of its names), ``version`` and
    ``licence`` are safe anywhere. An embedding has ``dimension`` elements of the language's type
    ``element``, and ``dimensions`` dimensions: eight per element with ``packed_bits``. ``paired``
    says whether rows are pairs of texts, ``prompted`` whether texts have prompts, ``ragged``
    whether a text has a number of rows of its own, ``several`` whether it gets several outputs,
    the first of which is ``output`` and the others ``further``, ``words`` whether a client finds
    the words of texts, ``beside`` whether the weights lie beside the graph, ``fed_prompt`` whether
    the graph takes a number for each prompt; ``bulk`` and ``cuda`` whether it has these parts.
    ``format`` is the newest format of model files that a client knows. ``feeds`` says what each
    input of the graph takes. ``window`` is how many texts are in memory at a time, ``pad_right``
    says on which side rows are padded. ``name`` to ``document_prompt`` are literals of the
    language, and so are ``digest`` (of the contract), ``outputs`` (the names that a run is asked
    for; ``counts`` is the one that counts rows), ``prompts``, ``prompt_values`` and ``pair``;
    ``prompt_names`` has the names of all prompts, and is empty where there are none.
    ``description`` is encoded for the project file.
    """

    task: str
    client: str
    model: str
    package: str
    module: str
    path: str
    version: str
    licence: str
    generator: str
    description: str
    dimension: int
    dimensions: int
    dtype: str
    packed_bits: bool
    contract: str
    settings: str
    has_settings: bool
    digest: str
    outputs: str
    counts: str
    prompts: str
    default_prompt: str
    fed_prompt: bool
    prompt_values: str
    pair: str
    vocab_size: int
    pad_id: int
    paired: bool
    prompted: bool
    ragged: bool
    several: bool
    words: bool
    beside: bool
    format: int
    bulk: bool
    cuda: bool
    element: str
    max_length: int
    feeds: tuple[str, ...]
    window: int
    name: str
    inputs: tuple[InputLiterals, ...]
    output: OutputLiterals
    further: tuple[OutputLiterals, ...]
    pad_right: bool
    prompt_names: str
    query_prompt: str
    document_prompt: str


def build_context(
    manifest: Manifest,
    language: Language,
    names: Names,
    version: str,
    *,
    traits: Collection[str] = (),
    parts: Collection[str] = (),
) -> Context:
    """Choose every name and literal of a client."""
    contract, text = manifest.contract, language.string
    document = next((name for name in DOCUMENT_PROMPTS if name in contract.prompts), None)
    query = "query" if "query" in contract.prompts else None

    def optional(value: str | None) -> str:
        return language.null if value is None else text(value)

    def literals(output: Output) -> OutputLiterals:
        return OutputLiterals(
            name=text(output.name),
            dimension=str(output.dimension),
        )

    licence = manifest.source.licence or ""
    outputs = [one.name for one in contract.outputs]
    counts = next((one.counts for one in contract.outputs if one.counts is not None), None)
    values = next((one.values for one in contract.inputs if one.feed == "prompt_value"), {})

    def literal(value: JsonValue) -> str:
        return language.literal(value, 0)

    return Context(
        task=contract.task,
        client=CLIENTS[contract.task],
        model=manifest.name,
        package=names.package,
        module=names.module,
        path=language.path(names.package, names.module),
        version=version,
        licence=licence if _SPDX.fullmatch(licence) else "",
        generator=__version__,
        description=language.project_string(_sentence(manifest)),
        dimension=contract.output.dimension,
        dimensions=contract.output.dimensions,
        dtype=contract.output.dtype,
        contract=language.literal(contract.model_dump(mode="json"), 0),
        settings=language.literal(contract.settings, 0),
        has_settings=bool(contract.settings),
        digest=text(contract.digest),
        outputs=literal([*outputs, *([] if counts is None else [counts])]),
        counts=optional(counts),
        prompts=literal({**contract.prompts}),
        default_prompt=optional(contract.default_prompt),
        fed_prompt=bool(values),
        prompt_values=literal({**values}),
        pair=literal(None if contract.pair is None else contract.pair.model_dump(mode="json")),
        vocab_size=contract.vocab_size,
        pad_id=contract.pad_id,
        paired=contract.pair is not None,
        prompted="prompted" in traits,
        ragged="ragged" in traits,
        several=bool(contract.further_outputs),
        words="words" in traits,
        beside=manifest.weights_beside,
        format=manifest.format,
        bulk="bulk" in parts,
        cuda="cuda" in parts,
        packed_bits=contract.output.packed_bits,
        element=language.elements[contract.output.dtype],
        max_length=contract.max_length,
        feeds=tuple(one.feed for one in contract.inputs),
        window=_window(contract),
        name=text(manifest.name),
        inputs=tuple(InputLiterals(text(item.name), item.feed) for item in contract.inputs),
        output=literals(contract.output),
        further=tuple(map(literals, contract.further_outputs)),
        pad_right=contract.pad_side == "right",
        prompt_names=text(", ".join(contract.prompts)) if contract.prompts else "",
        query_prompt=optional(query),
        document_prompt=optional(document),
    )


def _window(contract: Contract) -> int:
    """At most 8,192 texts, and results of at most 64 MiB."""
    if contract.further_outputs:
        return 64  # each text has a vector for every token
    rows = 1 if contract.output.counts is None else contract.max_length
    return max(1, min(8192, 2**24 // (contract.output.dimension * rows)))


def _sentence(manifest: Manifest) -> str:
    """Return the package's description in one line."""
    words = " ".join(manifest.description.split())
    return words or f"Client of the model {manifest.name}, the same in every language"
