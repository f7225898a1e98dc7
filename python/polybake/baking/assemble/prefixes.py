"""Cache the keys and values of what many texts begin with: a causal model's prompts."""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from polybake.baking.assemble.prompts import Prompts
from polybake.baking.encoders.layer import keys_values
from polybake.baking.golden.golden import THREADS
from polybake.baking.graph.session import open_written
from polybake.baking.layers.prefix_cache import PrefixCache
from polybake.baking.sources.checkpoint import Checkpoint
from polybake.baking.sources.prefixed_encoder import PrefixedEncoder
from polybake.baking.sources.source import Encoder, Source
from polybake.baking.steps import Pool, Step
from polybake.baking.tokenizer.pair_prompt import PairPrompt
from polybake.runtime.session import run_encoder

#: What may stand behind a prompt: some of it may share a token with the prompt's end.
_BEHIND = ("", "a", " a", "A", "1", ".", "\n", "\u00e9", "\u4e2d")

#: The fewest tokens that are worth it.
_FEWEST = 4

#: The most bytes of all keys and values: so many, or a part of the encoder's own file.
_MOST, _PART = 1 << 20, 1 / 20


def cache_prefixes(
    source: Source, encoder: Encoder, steps: Sequence[Step], prompts: Prompts, folder: Path
) -> Encoder:
    """Return the encoder with the keys and values of its prompts, where that changes no vector.

    It changes none if the encoder is causal and the steps read a text's last token alone. Prompts
    are taken in their order as long as there is room for them.
    """
    if not (isinstance(encoder, Checkpoint) and encoder.caches and _reads_last(steps)):
        return encoder
    prefixes = dict(_prefixes(source, prompts))
    if not prefixes:
        return encoder
    whole = encoder.reference(folder)
    options, layers = encoder.options, encoder.options.num_layers
    token = 2 * layers * options.key_value_heads * options.head_size * 4
    room = max(_MOST, int(_PART * sum(file.stat().st_size for file in folder.iterdir()))) // token
    names = [name for layer in range(layers) for name in keys_values(layer)]
    session = open_written(whole.path, threads=THREADS, name=encoder.name)
    runs: dict[tuple[int, ...], list[NDArray[np.float32]]] = {}
    for ids in prefixes.values():
        if ids not in runs and sum(map(len, runs)) + len(ids) <= room:
            row = np.array([ids])
            fed = {"input_ids": row, "attention_mask": np.ones_like(row)}
            runs[ids] = run_encoder(session, names, fed)
    if not runs:
        return encoder
    arrays = [np.concatenate(parts, axis=2) for parts in zip(*runs.values(), strict=True)]
    cache = PrefixCache(tuple(runs), tuple(zip(arrays[::2], arrays[1::2], strict=True)))
    tokens = {name: len(ids) for name, ids in prefixes.items() if ids in runs}
    return PrefixedEncoder(encoder.name, encoder, cache, whole, tokens)


def _reads_last(steps: Sequence[Step]) -> bool:
    """Whether the steps read nothing of a text but its last token's embedding."""
    first = steps[0] if steps else None
    return (
        isinstance(first, Pool)
        and first.include_prompt
        and first.mode in ("lasttoken", ("lasttoken",))
    )


def _prefixes(source: Source, prompts: Prompts) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the ids that each prompt begins every row with; those of pairs have no name."""
    rows = {
        name: source.tokenizer.encode([text + behind for behind in _BEHIND])
        for name, text in prompts.texts.items()
    }
    if isinstance(source.pair_prompt, PairPrompt):
        pair = source.pair_prompt.whole(source.tokenizer)
        rows = {"": [pair((behind, behind)) for behind in _BEHIND]}
    for name, group in rows.items():
        columns = takewhile(lambda column: len({*column}) == 1, zip(*group, strict=False))
        ids = tuple(column[0] for column in columns)
        if len(ids) >= _FEWEST:
            yield name, ids
