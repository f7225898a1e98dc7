"""Check whether a vector depends on its neighbours in the batch or on padding."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import onnxruntime as ort

from polybake.baking.prove.encoder_inputs import expanded
from polybake.baking.sources.source import SourceReference
from polybake.baking.steps import Step
from polybake.baking.tasks import TASKS
from polybake.base.modelfile.fixture import Case
from polybake.base.modelfile.manifest import UNQUANTIZED, Contract, Output
from polybake.base.modelfile.rows import Rows
from polybake.base.modelfile.tolerance import LIMIT, Embeddings, relative_difference
from polybake.errors import CheckFailed
from polybake.runtime.feeds import feeds
from polybake.runtime.runner import Runner
from polybake.runtime.session import run_encoder

#: The number of texts, the shortest, that are run together to see whether neighbours matter.
_NEIGHBOURS = 7

#: Returns ``[vectors, size]`` for each row of token ids, padded to at least a given length.
Run = Callable[[Rows, int, str | None], list[Embeddings]]

_WAYS = {"batch": "in a batch", "padding": "under padding"}


def baked_run(runner: Runner, output: Output) -> Run:
    """Return a function that runs the baked graph; its vectors are taken before quantization."""
    name = output.name if output.dtype == "float32" else UNQUANTIZED

    def run(rows: Rows, length: int, prompt: str | None) -> list[Embeddings]:
        if output.counts is not None:
            vectors, counts = runner.outputs(rows, [name, output.counts], prompt, length)
            return np.split(vectors, np.cumsum(counts)[:-1])
        vectors = runner.outputs(rows, [name], prompt, length)[0]
        if len(vectors) != len(rows):
            raise CheckFailed(
                f"the baked graph gives {len(vectors)} vectors for {len(rows)} texts; nothing was "
                "written; compute each row of a batch by itself"
            )
        return [vector[None] for vector in vectors]

    return run


def encoder_run(
    contract: Contract, session: ort.InferenceSession, reference: SourceReference
) -> Run:
    """Return a function that runs the encoder alone, and drops embeddings of padding."""

    def run(rows: Rows, length: int, prompt: str | None) -> list[Embeddings]:
        inputs = expanded(contract, feeds(contract, rows, prompt, length), reference)
        (arrays,) = run_encoder(session, [reference.output], inputs.fed)
        if arrays.ndim == 2:
            return [vector[None] for vector in arrays]
        return [vectors[mask == 1] for vectors, mask in zip(arrays, inputs.counted, strict=True)]

    return run


def measure_invariance(golden: Sequence[Case], contract: Contract, run: Run) -> dict[str, float]:
    """Compare each text's vectors alone with those in a batch and under padding.

    Returns:
        The largest difference for ``batch`` and for ``padding``, over all prompts whose values are
        fed; NaN if a vector holds NaN.
    """
    bare = (case.rows(contract.vocab_size) for case in golden if case.prompt is None)
    rows = sorted({row for rows in bare for row in rows}, key=lambda row: (len(row), row))
    rows = rows[:_NEIGHBOURS]
    wide = min(2 * max(map(len, rows)), contract.max_length)
    fed = any(item.feed == "prompt_value" for item in contract.inputs)
    most = dict.fromkeys(_WAYS, 0.0)
    for prompt in dict.fromkeys([contract.default_prompt, *(contract.prompts if fed else ())]):
        alone = np.concatenate([run([row], 0, prompt)[0] for row in rows])
        runs = {"batch": run(rows[::-1], 0, prompt)[::-1], "padding": run(rows, wide, prompt)}
        for way, vectors in runs.items():
            difference = relative_difference(
                np.concatenate(vectors), alone, probabilities=TASKS[contract.task].probabilities
            )
            most[way] = float(np.maximum(most[way], difference))  # max() may drop NaN
    return most


def largest(measured: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the largest difference of each way, over all outputs; NaN if one is NaN."""
    first, *others = measured
    maxima = dict(first)
    for other in others:
        maxima = {way: float(np.maximum(value, other[way])) for way, value in maxima.items()}
    return maxima


def check_invariance(
    measured: Mapping[str, float],
    encoder: Callable[[], Mapping[str, float]],
    steps: Sequence[Step],
    limit: float = LIMIT,
) -> None:
    """Judge the result of `measure_invariance`, and find the cause of a difference."""
    for way, difference in measured.items():
        if difference <= limit:
            continue
        if np.isnan(difference):
            fault = "gives NaN or infinity for each text alone"
            remedy = "mend the weights that make it"
        else:
            size = f"{difference:.3g}, more than {limit:g}"
            fault = f"differs from each text alone, {_WAYS[way]} by {size}"
            remedy = "export it again with dynamic batch and sequence axes, or take another one"
        alone = encoder()[way]
        raise CheckFailed(
            f"the baked graph {fault}; nothing was written; "
            + (f"the encoder alone does, too; {remedy}" if not alone <= limit else _steps(steps))
        )


def _steps(steps: Sequence[Step]) -> str:
    return (
        f"the encoder alone does not, so one of the steps does: {', '.join(map(str, steps))}; "
        "let each compute every row of a batch by itself, without state, random numbers and NaN"
    )
