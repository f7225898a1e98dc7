"""What a bake proves about its own result before it reports success."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime as ort

from polybake import promptlength, routes
from polybake.errors import CheckFailed
from polybake.fixtures.case import Case, decode_slack, decode_vectors
from polybake.fixtures.edges import UNQUANTIZED
from polybake.fixtures.slack import Embeddings, Slack, differences
from polybake.manifest import Contract
from polybake.runtime import feeds, run_outputs
from polybake.sources.source import Reference
from polybake.steps import Step, Tokens

#: Of one element, relative to the vector's length, which is 1 where it is normalised.
#: Source: docs/tolerances.md, "Limits".
LIMIT = 1e-5

#: Texts that go together, the shortest ones, to see whether neighbours matter.
_NEIGHBOURS = 7

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
    types = {one.name: _INTEGERS[one.type] for one in session.get_inputs()}
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
        typed = {name: fed[name].astype(kind) for name, kind in types.items()}
        names = [reference.output, *reference.hidden_states]
        ran: list[Any] = session.run(names, typed)
        expected, *states = (x.astype(np.float64) for x in ran)
        read = Tokens(
            by_feed["input_ids"],
            mask,
            fed.get(promptlength.NAME),
            fed.get(routes.NAME),
            hidden_states=states or None,
        )
        for step in steps:
            expected = step.numpy(expected, read)
        found, slack = decode_vectors(case.embeddings), decode_slack(case.embeddings)
        largest = max(largest, _within(f"its source in case {case.id}", found, expected, slack))
    return largest


_INTEGERS: dict[str, type[np.integer[Any]]] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


def prove_invariance(
    golden: Sequence[Case], contract: Contract, session: ort.InferenceSession
) -> dict[str, float]:
    """Check that a vector depends neither on its neighbours nor on padding.

    Args:
        golden: What the baked graph gave; cases of one text without a prompt of their own show
            each text alone.
        contract: Says what to feed.
        session: The baked graph.

    Returns:
        The largest difference to running each text alone, for ``batch`` and ``padding``, over
        all prompts whose values are fed.

    Raises:
        CheckFailed: one exceeds the limit.
    """
    alone = sorted(
        (case for case in golden if len(case.texts) == 1 and case.prompt is None),
        key=lambda case: len(case.input_ids[0]),
    )[:_NEIGHBOURS]
    rows = [case.input_ids[0] for case in alone]
    fed = any(one.feed == "prompt_value" for one in contract.inputs)
    prompts = dict.fromkeys([contract.default_prompt, *(contract.prompts if fed else ())])
    found = [_invariance(contract, session, rows, prompt) for prompt in prompts]
    return {name: max(one[name] for one in found) for name in found[0]}


def _invariance(
    contract: Contract,
    session: ort.InferenceSession,
    rows: Sequence[Sequence[int]],
    prompt: str | None,
) -> dict[str, float]:
    quantized = contract.output.dtype != "float32"
    output = UNQUANTIZED if quantized else contract.output.name

    def run(rows: Sequence[Sequence[int]], length: int = 0) -> Embeddings:
        return run_outputs(session, contract, rows, [output], prompt=prompt, length=length)[0]

    alone = np.concatenate([run([row]) for row in rows])
    wide = min(2 * max(map(len, rows)), contract.max_length)
    return {
        "batch": _within("each text alone, in a batch", run(rows[::-1])[::-1], alone),
        "padding": _within("each text alone, under padding", run(rows, wide), alone),
    }


def _within(
    what: str, found: Embeddings, expected: Embeddings, slack: Slack | None = None
) -> float:
    if found.shape != expected.shape:
        raise CheckFailed(
            f"the baked graph gives vectors of shape {list(found.shape)}, and {what} of shape "
            f"{list(expected.shape)}; nothing was written; make both forms of each step agree"
        )
    if slack is None:
        difference = largest_difference(found, expected)
        fault = "" if difference <= LIMIT else f"{difference:.3g}, more than {LIMIT:g}"
    else:
        difference = float(differences(expected, found, packed_bits=slack.packed_bits).max())
        exceeded = int(slack.exceeded(expected, found).sum())
        fault = f"more than rounding in {exceeded} elements" if exceeded else ""
    if fault:
        raise CheckFailed(
            f"the baked graph differs from {what} by {fault}; "
            "nothing was written; export the encoder again with dynamic batch and sequence axes, "
            "or take one that no padding changes"
        )
    return difference
