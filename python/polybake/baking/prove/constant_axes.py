"""Find an axis that is declared dynamic and is a constant in the graph.

A tracer writes sizes of its example into the graph where the model's code makes numbers of them.
"""

from polybake.errors import RunFailed
from polybake.runtime.runner import Runner

#: The sizes that are tried; examples are seldom larger.
_TEXTS, _TOKENS = 8, 512

_REMEDY = (
    "export it again with two example texts or more, of several tokens, and make no Python number "
    "of a size, such as int(input_ids.shape[0])"
)


def constant_axis(runner: Runner) -> str | None:
    """Return what a graph that fails does run on, and the remedy; None if no axis is constant."""
    row = runner.tokenizer.encode(["a"])[0] or [runner.contract.pad_id]
    short = len(row)

    def runs(texts: int, tokens: int) -> bool:
        output = runner.contract.output
        try:
            (found,) = runner.outputs([row] * texts, [output.name], length=tokens)
        except RunFailed:
            return False
        return output.counts is not None or len(found) == texts

    if runs(1, short):
        if not runs(2, short):
            return _said("one text but not two", "batch size", 1)
        if not runs(1, short + 1):
            return _said(f"{short} tokens but not {short + 1}", "sequence length", short)
        return None
    texts = next((size for size in range(2, _TEXTS + 1) if runs(size, short)), None)
    if texts is not None:
        return _said(f"{texts} texts but not one", "batch size", texts)
    lengths = range(short + 1, min(_TOKENS, runner.contract.max_length) + 1)
    tokens = next((size for size in lengths if runs(1, size)), None)
    if tokens is not None:
        return _said(f"{tokens} tokens but not {short}", "sequence length", tokens)
    return None


def _said(runs: str, axis: str, size: int) -> str:
    return (
        f"the graph runs on {runs}: a {axis} of {size} is a constant in it, though the axis is "
        f"declared dynamic; {_REMEDY}"
    )
