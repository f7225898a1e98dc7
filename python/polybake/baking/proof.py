"""What a bake proves about its own result before it reports success."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from polybake.baking import prompt_length as promptlength
from polybake.baking import routes
from polybake.baking.culprit import culprit
from polybake.errors import CheckFailed
from polybake.modelfile.fixture import Case, decode_slack, decode_vectors
from polybake.modelfile.manifest import Contract
from polybake.modelfile.slack import Embeddings, Slack, differences
from polybake.runtime.session import feeds
from polybake.sources.source import Reference
from polybake.steps import Step, Tokens

#: Of one element, relative to the vector's length, which is 1 where it is normalised.
#: Source: docs/tolerances.md, "Limits".
LIMIT = 1e-5

#: Tokens, padding included, of the cases that the steps are proven with, most telling first; more
#: where a prompt needs a case of its own.
_STEP_TOKENS = 400


def largest_difference(found: Embeddings, expected: Embeddings) -> float:
    """The largest difference of one element, relative to the expected row's L2 norm.

    Args:
        found: ``[rows, dimension]``.
        expected: The same shape; a row of zeros is compared absolutely.

    Returns:
        NaN when either holds a NaN.
    """
    # In float32 the squares of a norm would overflow, or vanish, long before the elements do.
    found, expected = found.astype(np.float64), expected.astype(np.float64)
    norms = np.linalg.norm(expected, axis=-1, keepdims=True)
    return float(np.max(np.abs(found - expected) / np.where(norms > 0, norms, 1.0)))


def prove_steps(
    golden: Sequence[Case],
    contract: Contract,
    session: ort.InferenceSession,
    reference: Reference,
    steps: Sequence[Step],
) -> float:
    """Compare golden vectors with the encoder alone followed by the steps in NumPy.

    Args:
        golden: What the baked graph gave.
        contract: Says what to feed.
        session: The encoder without the steps.
        reference: Names the session's outputs that the steps begin with.
        steps: What was folded over it.

    Returns:
        The largest difference; of integers in steps, of packed bits in bits of one element.

    Raises:
        CheckFailed: it exceeds the limit, or for integers their slack.
    """
    largest, tokens = 0.0, 0
    prompts: set[str | None] = set()
    for case in golden:
        prompt = contract.default_prompt if case.prompt is None else case.prompt
        fed = feeds(contract, case.input_ids, prompt=prompt)
        by_feed = {one.feed: fed[one.name] for one in contract.inputs}
        mask = by_feed["attention_mask"]
        if tokens + mask.size > _STEP_TOKENS and prompt in prompts:
            continue
        tokens += mask.size
        prompts.add(prompt)
        ran = run_encoder(session, [reference.output, *reference.hidden_states], fed)
        given, *states = (x.astype(np.float64) for x in ran)
        read = Tokens(
            by_feed["input_ids"],
            mask,
            fed.get(promptlength.NAME),
            fed.get(routes.NAME),
            hidden_states=states or None,
        )
        stages: list[Any] = [given]
        for step in steps:
            stages.append(step.numpy(stages[-1], read))
        found, slack = decode_vectors(case.embeddings), decode_slack(case.embeddings)
        difference, fault = _difference(found, stages[-1], slack)
        if fault:
            if given.ndim == 3:  # what stands at padding is no number of the encoder's
                stages[0] = given[mask == 1]
            raise CheckFailed(
                f"the baked graph differs from its source in case {case.id} by {fault}; "
                f"nothing was written; {culprit(stages, steps)}"
            )
        largest = max(largest, difference)
    return largest


_INTEGERS: dict[str, type[np.integer[Any]]] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


def run_encoder(
    session: ort.InferenceSession, outputs: Sequence[str], fed: Mapping[str, NDArray[np.int64]]
) -> list[Any]:
    """The outputs of an encoder without steps; its inputs may have another type than the bake's."""
    typed = {one.name: fed[one.name].astype(_INTEGERS[one.type]) for one in session.get_inputs()}
    found: list[Any] = session.run(list(outputs), typed)
    return found


def _difference(found: Embeddings, expected: Embeddings, slack: Slack | None) -> tuple[float, str]:
    """How far two sets of vectors are apart, and where that is too far, by how much."""
    if found.shape != expected.shape:
        raise CheckFailed(
            f"the baked graph gives vectors of shape {list(found.shape)}, and its source of shape "
            f"{list(expected.shape)}; nothing was written; make both forms of each step agree"
        )
    if slack is None:
        difference = largest_difference(found, expected)
        return difference, "" if difference <= LIMIT else f"{difference:.3g}, more than {LIMIT:g}"
    difference = float(differences(expected, found, packed_bits=slack.packed_bits).max())
    exceeded = int(slack.exceeded(expected, found).sum())
    return difference, f"more than rounding in {exceeded} elements" if exceeded else ""
