"""Reproduce the golden cases that a model file carries."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer

from polybake.errors import CheckFailed
from polybake.modelfile.compare import compare_ids, compare_vectors, largest_difference
from polybake.modelfile.container import read_head
from polybake.modelfile.fixture import decode_slack, decode_vectors
from polybake.runtime.session import open_session, run_ids


def self_check(path: Path) -> float:
    """Take every case of a model file through tokenizer and graph.

    Returns:
        The largest absolute difference of one element; of packed bits, how many of one element
        differ.

    Raises:
        CheckFailed: token ids differ, or a vector lies outside the file's tolerance.
        InputError: not a model file, or one that does not load.
    """
    head = read_head(path)
    contract, fixture = head.manifest.contract, head.fixture
    tokenizer = Tokenizer.from_str(head.tokenizer)
    session = open_session(path)
    largest = 0.0
    for case in fixture.cases:
        name = contract.default_prompt if case.prompt is None else case.prompt
        prefix = contract.prompts[name] if name is not None else ""
        encodings = tokenizer.encode_batch_fast([prefix + text for text in case.texts])
        ids = [encoding.ids for encoding in encodings]
        golden, slack = decode_vectors(case.embeddings), decode_slack(case.embeddings)
        found = run_ids(session, contract, case.input_ids, prompt=name)
        difference = compare_ids(case.input_ids, ids) or compare_vectors(
            golden, found, fixture.tolerances["cpu"], slack
        )
        if difference:
            raise CheckFailed(
                f"{path}: case {case.id}: {difference.message}; "
                "the file or its packages changed; bake it again"
            )
        largest = max(largest, largest_difference(golden, found, slack))
    return largest
