"""All departures that can be tried on a model file."""

from __future__ import annotations

from collections.abc import Iterator

from polybake.base.files.published_models import published
from polybake.study.diagnose.departures import (
    batches,
    encoder,
    pooling,
    stored,
    texts,
    tokens,
    weights,
)
from polybake.study.diagnose.departures.departure import Departure
from polybake.study.diagnose.dissection import Dissection
from polybake.study.diagnose.way import Way


def departures(
    model: Dissection, prompt: str | None, dimension: int, count: int = 0
) -> list[Departure]:
    """Return all departures that can be tried on a model file."""
    trained = published(model.manifest.source.identifier)
    return [
        *texts.departures(model.manifest.contract.prompts, prompt, trained),
        *tokens.departures(model.tokenizer, model.manifest.contract.max_length),
        *batches.departures(model.manifest.contract, prompt, count),
        *encoder.departures(model.graph),
        *weights.departures(model.manifest.contract, count),
        *pooling.departures(model, prompt, count),
        *stored.departures(dimension),
        *_layers(model),
        *_steps(model),
    ]


def _layers(model: Dissection) -> Iterator[Departure]:
    if model.pooled_at == 0:
        for number, name in enumerate(model.layers, start=1):
            yield Departure(f"takes the output of layer {number}", Way(layer=name))


def _steps(model: Dissection) -> Iterator[Departure]:
    for index in range(len(model.manifest.steps)):
        if index != model.pooled_at:
            yield Departure(f"leaves out {model.step_name(index)}", Way(left_out=index))
