"""All that a template may use: names and literals, decided before anything is rendered."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from polybake import __version__
from polybake.base.modelfile.manifest import DOCUMENT_PROMPTS, Contract, Manifest, Output
from polybake.generation.languages import Language
from polybake.generation.names import Names

#: A method in the note of a task.
_METHOD = re.compile(r"\{(\w+)\}")

_SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]{0,63}")


@dataclass(frozen=True)
class InputLiterals:
    """An input of the contract: its name and its numbers by prompt as literals, and its feed.

    ``number`` tells those apart that are fed numbers by prompt: nothing for the first, then 2.
    """

    name: str
    feed: str
    values: str
    number: str


@dataclass(frozen=True)
class OutputLiterals:
    """An output of the contract; all fields are literals of the language."""

    name: str
    dimension: str
    counts: str


@dataclass(frozen=True)
class Context:
    """The variables of every template.

    ``client`` is the class of the task's clients. ``language``, ``model``, ``package``, ``module``,
    ``path`` (of folders or files: the package in snake case, or what the language makes of its
    names), ``version`` and ``licence`` are safe anywhere. An embedding has ``dimension`` elements
    of the language's type ``element``, and ``dimensions`` dimensions: eight per element with
    ``packed_bits``. ``paired`` says whether rows are pairs of texts, ``prompted`` whether texts
    have prompts, ``ragged`` whether a text has a number of rows of its own, ``several`` whether it
    gets several outputs, the first of which is ``output`` and the others ``further``, ``words``
    whether a client finds the words of texts, ``beside`` whether the weights lie beside the graph,
    ``fed_prompt`` whether the graph takes a number for each prompt; ``bulk`` and ``cuda`` whether
    it has these parts; ``stream`` is ``vectors`` or ``call``, as a stream of texts gives them, and
    empty where there is none. ``feeds`` says what each input of the graph takes. ``window`` is how
    many texts are in memory at a time, ``pad_right`` says on which side rows are padded. ``name``
    to ``document_prompt`` are literals of the language, and so are ``digest`` (of the contract),
    ``outputs`` (the names that a run is asked for; ``counts`` is the one that counts rows),
    ``prompts``, ``pair`` and its ``pieces``, and each value of ``setting``, the task's settings by
    name. ``prompt_names`` has the names of all prompts, and is empty where there are none. Of pairs
    ``truncate`` and ``truncation_side`` say what is cut, as the contract does, and ``surrounded``
    whether a text has a limit of its own, or something around it; ``long_texts`` says whether a
    text may be too long to be taken, ``word_rule`` where words end. ``description`` is encoded for
    the project file. For READMEs ``gives`` and ``note`` say what the client gives, and ``method``
    spells the name of a method.
    """

    task: str
    client: str
    stream: str
    gives: str
    note: str
    method: Callable[[str], str]
    language: str
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
    settings: str
    has_settings: bool
    setting: Mapping[str, str]
    word_rule: str
    digest: str
    outputs: str
    counts: str
    prompts: str
    default_prompt: str
    fed_prompt: bool
    pair: str
    pieces: str
    truncate: str
    truncation_side: str
    surrounded: bool
    long_texts: bool
    vocab_size: int
    pad_id: int
    paired: bool
    prompted: bool
    ragged: bool
    several: bool
    words: bool
    beside: bool
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
    task: Mapping[str, str],
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
            counts=optional(output.counts),
        )

    licence = manifest.source.licence or ""
    outputs = [output.name for output in contract.outputs]
    counts = next((output.counts for output in contract.outputs if output.counts is not None), None)
    fed = [item.name for item in contract.inputs if item.feed == "prompt_value"]

    pair = None if contract.pair is None else contract.pair.model_dump(mode="json")

    def literal(value: JsonValue) -> str:
        return language.literal(value, 0)

    inputs = [
        InputLiterals(
            name=text(item.name),
            feed=item.feed,
            values=literal({**item.values}),
            number=str(fed.index(item.name) + 1) if item.name in fed[1:] else "",
        )
        for item in contract.inputs
    ]
    return Context(
        task=contract.task,
        client=task["client"],
        stream=task["stream"],
        gives=task["gives"],
        note=_METHOD.sub(lambda name: f"`{language.method(name[1])}`", task["note"].strip()),
        method=language.method,
        language=language.name,
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
        settings=language.literal(contract.settings, 0),
        has_settings=bool(contract.settings),
        setting={key: literal(value) for key, value in contract.settings.items()},
        word_rule=str(contract.settings.get("words", "")),
        digest=text(contract.digest),
        outputs=literal([*outputs, *([] if counts is None else [counts])]),
        counts=optional(counts),
        prompts=literal({**contract.prompts}),
        default_prompt=optional(contract.default_prompt),
        fed_prompt=bool(fed),
        pair=literal(pair),
        pieces=literal(None if pair is None else pair["pieces"]),
        truncate="" if contract.pair is None else contract.pair.truncate,
        truncation_side="" if contract.pair is None else contract.pair.truncation_side,
        surrounded=contract.pair is not None
        and any(t.before or t.after or t.limit is not None for t in contract.pair.texts),
        long_texts="words" in traits
        or (contract.pair is not None and contract.pair.truncate != "longest_first"),
        vocab_size=contract.vocab_size,
        pad_id=contract.pad_id,
        paired=contract.pair is not None,
        prompted="prompted" in traits,
        ragged="ragged" in traits,
        several=bool(contract.further_outputs),
        words="words" in traits,
        beside=manifest.weights is not None,
        bulk="bulk" in parts,
        cuda="cuda" in parts,
        packed_bits=contract.output.packed_bits,
        element=language.elements[contract.output.dtype],
        max_length=contract.max_length,
        feeds=tuple(item.feed for item in contract.inputs),
        window=_window(contract),
        name=text(manifest.name),
        inputs=tuple(inputs),
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
