"""Figures of two models and a client that were never measured."""

from __future__ import annotations

from polybake.base.modelfile.manifest import Deviation
from polybake.study.bench.figures import (
    BatchTokens,
    Comparison,
    Environment,
    Figures,
    ModelFigures,
    Row,
    TimeParts,
)
from polybake.study.bench.profile import PARTS
from polybake.study.bench.turns import Timing
from polybake.verification.verdict import Status


def timing(*rounds: float) -> Timing:
    return Timing(seconds=tuple((seconds,) for seconds in rounds))


def model(name: str, deviation: Deviation | None = None) -> ModelFigures:
    return ModelFigures(
        name=name,
        fingerprint="f" * 64,
        precision="int8" if deviation else "float32",
        storage="checkpoint",
        deviation=deviation,
        bytes=24_300_000 if deviation else 90_900_000,
        opening=timing(0.2),
        bare_opening=timing(0.1),
        batch_tokens=tuple(
            BatchTokens(tokens=tokens, texts_per_second=10.0 * tokens, timing=timing(1 / tokens))
            for tokens in (128, 256, 512)
        ),
        parts=tuple(
            TimeParts(
                workload=workload,
                seconds={part: 1.0 + place for place, part in enumerate(PARTS)},
            )
            for workload in ("short", "single")
        ),
    )


def row(name: str, seconds: Timing | None, ratio: float | None, **fields: object) -> Row:
    return Row(model=name, texts=1, tokens=34, timing=seconds, ratio=ratio, **fields)


def without_profile(figures: Figures) -> Figures:
    """The figures as a GPU gives them."""
    models = tuple(one.model_copy(update={"parts": ()}) for one in figures.models)
    return figures.model_copy(update={"models": models})


def sample_figures(
    first: str = "exact", second: str | None = "small", message: str = ""
) -> Figures:
    """Figures of one model or two; the client of the first failed if there is a message."""
    client: dict[str, object] = {"client": "node"}
    if message:
        client |= {"status": Status.FAIL, "message": message}
    calls = Timing(seconds=((0.001, 0.002), (0.003, 0.004)))
    rows = [
        Row(model=first, texts=1000, tokens=34_000, timing=timing(2, 4, 3), ratio=1.0, threads=1),
        Row(model=first, texts=1000, tokens=34_000, timing=None if message else timing(6), **client,
            ratio=None if message else 0.5),
    ]  # fmt: skip
    single = [row(first, calls, 1.0, threads=1)]
    models = [model(first)]
    if second:
        rows.append(Row(model=second, texts=1000, tokens=34_000, timing=timing(1.5), ratio=2.0))
        single.append(row(second, calls, 1.0))
        models.append(model(second, Deviation(max_abs=0.01, mean_cosine=0.998, min_cosine=0.99)))
    return Figures(
        environment=Environment(
            device="cpu",
            cpu="A processor", processors=2, system="Linux", python="3.11.7",
            onnxruntime="1.31.1", polybake="0.1.0",
        ),
        rounds=3,
        models=tuple(models),
        workloads=(
            Comparison(name="short", title="1,000 texts", single=False, rows=tuple(rows)),
            Comparison(name="single", title="one text", single=True, rows=tuple(single)),
        ),
    )  # fmt: skip
