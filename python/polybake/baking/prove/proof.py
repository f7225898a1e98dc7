"""The proof that a bake makes of its own result before it reports success."""

from collections.abc import Sequence

import numpy as np
import onnxruntime as ort

from polybake.baking.prove.encoder_inputs import expanded
from polybake.baking.sources.source import SourceReference
from polybake.baking.steps import Arrays, Floats, State, Step
from polybake.baking.tasks import TASKS
from polybake.base.modelfile.fixture import Case, decode_slack, decode_vectors
from polybake.base.modelfile.manifest import Contract
from polybake.base.modelfile.tolerance import (
    LIMIT,
    Embeddings,
    Slack,
    differences,
    relative_difference,
)
from polybake.errors import CheckFailed
from polybake.runtime.feeds import feeds
from polybake.runtime.session import run_encoder

#: The most tokens, with padding, of the cases that prove the steps, most telling first; more if a
#: prompt needs a case of its own.
_STEP_TOKENS = 400

#: The part of an embedding's length that a step must leave: with less, float32's rounding shows.
_LEAST_LEFT = 1e-3


def prove_steps(
    golden: Sequence[Case],
    contract: Contract,
    session: ort.InferenceSession,
    reference: SourceReference,
    steps: Sequence[Step],
) -> float:
    """Compare golden vectors with the encoder alone followed by the steps in NumPy.

    Returns:
        The largest difference; for integers in steps, for packed bits in bits of an element.
    """
    largest = 0.0
    for case in telling_cases(golden, contract):
        states = [encoded(case, contract, session, reference)]
        for step in steps:
            states.append(step.numpy(states[-1]))
        slack, expected = decode_slack(case.embeddings), [states[-1], *states[-1].further.values()]
        for vectors, state in zip(case.vectors, expected, strict=True):
            difference, fault = _difference(decode_vectors(vectors), state.x, slack, contract)
            if fault:
                raise CheckFailed(
                    f"the baked graph differs from its source in case {case.id} by {fault}; "
                    f"nothing was written; {at_fault([_kept(item) for item in states], steps)}"
                )
            largest = max(largest, difference)
    return largest


def telling_cases(golden: Sequence[Case], contract: Contract) -> list[Case]:
    """Return the first cases, up to a number of tokens, then the first of each further prompt."""
    tokens, selection = 0, []
    prompts: set[str | None] = set()
    for case in golden:
        prompt = contract.default_prompt if case.prompt is None else case.prompt
        size = len(case.input_ids) * max(1, *map(len, case.input_ids))
        if tokens + size <= _STEP_TOKENS or prompt not in prompts:
            selection.append(case)
            tokens += size
            prompts.add(prompt)
    return selection


def encoded(
    case: Case, contract: Contract, session: ort.InferenceSession, reference: SourceReference
) -> Arrays:
    """Run the encoder alone on a case; return its output in float64."""
    prompt = contract.default_prompt if case.prompt is None else case.prompt
    fed = feeds(contract, case.rows(contract.vocab_size), prompt)
    inputs = expanded(contract, fed, reference)
    names = [reference.output, *reference.hidden_states]
    arrays = run_encoder(session, names, inputs.fed)
    x, *states = (array.astype(np.float64) for array in arrays)
    return State(
        x,
        inputs.ids,
        inputs.counted,
        prompt_length=fed.get("prompt_length"),
        route=fed.get("route"),
        hidden_states=tuple(states),
        sought=inputs.sought,
    )


def _difference(
    actual: Embeddings, expected: Embeddings, slack: Slack | None, contract: Contract
) -> tuple[float, str]:
    """Return how far two sets of vectors are apart, and a message if that is too far."""
    if actual.shape != expected.shape:
        raise CheckFailed(
            f"the baked graph gives vectors of shape {list(actual.shape)}, and its source of shape "
            f"{list(expected.shape)}; nothing was written; make both forms of each step agree"
        )
    if slack is None:
        probabilities = TASKS[contract.task].probabilities
        difference = relative_difference(actual, expected, probabilities=probabilities)
        return difference, "" if difference <= LIMIT else f"{difference:.3g}, more than {LIMIT:g}"
    difference = float(differences(expected, actual, packed_bits=slack.packed_bits).max())
    exceeded = int(slack.exceeded(expected, actual).sum())
    return difference, f"more than rounding in {exceeded} elements" if exceeded else ""


def _kept(state: Arrays) -> Floats:
    """Return the embeddings without those of padding, which mean nothing."""
    return state.x[state.attention_mask == 1] if state.x.ndim == 3 else state.x


def at_fault(results: Sequence[Floats], steps: Sequence[Step]) -> str:
    """Return why a graph differs from its steps in NumPy, and the remedy."""
    names = ["the encoder alone", *(f"the step {step}" for step in steps)]
    for name, result in zip(names, results, strict=True):
        if not np.isfinite(result).all():
            return f"{name} gives NaN or infinity; mend its weights or its function"
    for step, before, after in zip(steps, results, results[1:], strict=False):
        if not _keeps_something(before, after):
            return (
                f"the step {step} leaves less than {_LEAST_LEFT:g} of an embedding's length, "
                "so that rounding shows; let it remove less, or leave it out"
            )
    if not steps:
        return "the encoder gives other numbers each time; export it without random numbers"
    return (
        f"the two forms of a step differ, of: {', '.join(map(str, steps))}; let a python step, and "
        "its reference, compute the same for each row by itself, without state and random numbers"
    )


def _keeps_something(before: Floats, after: Floats) -> bool:
    if before.ndim != 2 or after.ndim != 2 or len(before) != len(after):
        return True
    lengths, rest = (np.linalg.norm(x, axis=1) for x in (before, after))
    return not (rest < _LEAST_LEFT * lengths).any()
