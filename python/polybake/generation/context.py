"""All that a template may use: names and literals, decided before anything is rendered."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from polybake import __version__
from polybake.base.modelfile.manifest import DOCUMENT_PROMPTS, Manifest, Output
from polybake.generation.languages import Language
from polybake.generation.names import Names

_SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]{0,63}")


@dataclass(frozen=True)
class Entry:
    """A ``key: value`` of a mapping in source code; both are literals already."""

    key: str
    value: str


@dataclass(frozen=True)
class InputLiterals:
    """An input of the contract; every field is a literal of the language.

    ``feed_name`` is the feed as the name of a constant, such as ``AttentionMask``.
    """

    name: str
    dtype: str
    feed: str
    feed_name: str
    values: tuple[Entry, ...]


@dataclass(frozen=True)
class OutputLiterals:
    """An output of the contract; every field is a literal of the language."""

    name: str
    dtype: str
    dimension: str
    packed_bits: str
    counts: str


@dataclass(frozen=True)
class Context:
    """The variables of every template.

    ``model``, ``package``, ``module``, ``path`` (of folders or files: the
    package in snake case, or what the language makes of its names), ``version`` and
    ``licence`` are safe anywhere. An embedding has ``dimension`` elements of the language's type
    ``element``, and ``dimensions`` dimensions: eight per element with ``packed_bits``. ``paired``
    says whether rows are pairs of texts, ``prompted`` whether texts have prompts, ``ragged``
    whether a text has a number of rows of its own, ``several`` whether it gets several outputs,
    the first of which is ``output`` and the others ``further``, ``words`` whether a client finds
    the words of texts, ``beside`` whether the weights lie beside the graph; ``bulk`` and ``cuda``
    whether it has these parts. ``format`` is the newest format of model files that a client knows.
    ``name`` to ``document_prompt`` are literals of the language. ``description`` is encoded for the
    project file.
    """

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
    task: str
    settings: str
    pair: str
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
    vocab_size: int
    max_length: int
    name: str
    inputs: tuple[InputLiterals, ...]
    output: OutputLiterals
    further: tuple[OutputLiterals, ...]
    pad_id: str
    pad_side: str
    prompts: tuple[Entry, ...]
    prompt_names: tuple[str, ...]
    default_prompt: str
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
    pair = contract.pair
    document = next((name for name in DOCUMENT_PROMPTS if name in contract.prompts), None)
    query = "query" if "query" in contract.prompts else None

    def optional(value: str | None) -> str:
        return language.null if value is None else text(value)

    def literals(output: Output) -> OutputLiterals:
        return OutputLiterals(
            name=text(output.name),
            dtype=text(output.dtype),
            dimension=str(output.dimension),
            packed_bits=language.true if output.packed_bits else language.false,
            counts=optional(output.counts),
        )

    licence = manifest.source.licence or ""
    return Context(
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
        task=text(contract.task),
        settings=language.literal(contract.settings, 1),
        pair=language.null if pair is None else language.literal(pair.model_dump(mode="json"), 1),
        paired=pair is not None,
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
        vocab_size=contract.vocab_size,
        max_length=contract.max_length,
        name=text(manifest.name),
        inputs=tuple(
            InputLiterals(
                name=text(item.name),
                dtype=text(item.dtype),
                feed=text(item.feed),
                feed_name=item.feed.title().replace("_", ""),
                values=tuple(
                    Entry(text(key), str(item.values[key])) for key in sorted(item.values)
                ),
            )
            for item in contract.inputs
        ),
        output=literals(contract.output),
        further=tuple(map(literals, contract.further_outputs)),
        pad_id=str(contract.pad_id),
        pad_side=text(contract.pad_side),
        prompts=tuple(
            Entry(text(key), text(contract.prompts[key])) for key in sorted(contract.prompts)
        ),
        prompt_names=tuple(text(key) for key in sorted(contract.prompts)),
        default_prompt=optional(contract.default_prompt),
        query_prompt=optional(query),
        document_prompt=optional(document),
    )


def _sentence(manifest: Manifest) -> str:
    """Return the package's description in one line."""
    words = " ".join(manifest.description.split())
    return words or f"Client of the model {manifest.name}, the same in every language"
