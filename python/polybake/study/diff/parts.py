"""The parts of two model files, read from their heads without ONNX."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from polybake.base.files.documents import Change, document_changes
from polybake.base.modelfile.container import FileHead, check_digest, read_head
from polybake.base.modelfile.manifest import Contract
from polybake.errors import InputError

#: The parts that decide a vector; the fingerprint is made of them.
DECIDING = ("contract", "tokenizer", "graph")

#: The parts that only describe the file.
SAYING = ("manifest", "fixture")

#: The tasks whose vectors are stored for searches.
INDEXED = ("embed", "sparse", "multi-vector")


@dataclass(frozen=True)
class ModelParts:
    """Two intact model files, and the differences of their parts.

    Attributes:
        before: The head of the first file.
        after: The head of the second file.
    """

    before: FileHead
    after: FileHead

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """All differences of the heads; each place begins with its part."""
        sides = (_documents(self.before), _documents(self.after))
        return tuple(
            change
            for part in sides[0]
            for change in document_changes(sides[0][part], sides[1][part], part)
        )

    def changes_of(self, part: str) -> list[Change]:
        """Return the changes of one part."""
        return [change for change in self.changes if change.place.partition(".")[0] == part]

    def differs(self, part: str) -> bool:
        """Return whether a part differs; graphs are compared by their digests."""
        if part == "graph":
            old, new = self.before, self.after
            # A file of weights is named by its content, and the graph names it.
            return old.graph_digest != new.graph_digest
        return bool(self.changes_of(part))

    @property
    def same(self) -> bool:
        """Whether all parts that decide a vector are equal."""
        return not any(map(self.differs, DECIDING))

    @property
    def runnable(self) -> bool:
        """Whether both files can run on the same texts: they have the same task and inputs."""
        old, new = self.before.manifest.contract, self.after.manifest.contract
        return _purpose(old) == _purpose(new)

    @property
    def obstacle(self) -> str | None:
        """Why vectors of the two files cannot be compared; None if they can."""
        old, new = self.before.manifest.contract, self.after.manifest.contract
        for what, before, after in (
            ("another task", old.task, new.task),
            ("other rows", _rows(old), _rows(new)),
            ("another output", _several(old), _several(new)),
            ("another dimension", old.output.dimensions, new.output.dimensions),
            ("another type", _type(old), _type(new)),
        ):
            if before != after:
                return f"{what} ({before}, {after})"
        return None

    @property
    def indexed(self) -> bool:
        """Whether the vectors are of a kind that an index stores."""
        return self.before.manifest.contract.task in INDEXED

    @property
    def searchable(self) -> bool:
        """Whether each file gives each text one vector, so that neighbours can be found."""
        contracts = (self.before.manifest.contract, self.after.manifest.contract)
        several = any(contract.output.counts is not None for contract in contracts)
        return self.runnable and self.indexed and not several

    @property
    def settings_differ(self) -> bool:
        """Whether clients turn the same numbers into different answers, such as other labels."""
        return self.before.manifest.contract.settings != self.after.manifest.contract.settings

    @property
    def prompts_gone(self) -> list[str]:
        """The first file's prompts that the second file does not have."""
        old, new = self.before.manifest.contract.prompts, self.after.manifest.contract.prompts
        return sorted(old.keys() - new.keys())


def compare_parts(before: Path, after: Path) -> ModelParts:
    """Read two model files, and check that their graphs are as they were written."""
    heads = read_head(before), read_head(after)
    for head in heads:
        if head.manifest.contract.further_outputs:
            raise InputError(
                f"{head.path}: gives a text several outputs, and a diff compares one; bake each "
                'model with task = "embed" and compare these'
            )
        check_digest(head)
    return ModelParts(*heads)


def _documents(head: FileHead) -> dict[str, Any]:
    """Return all parts but the graph, without digests and golden vectors, compared elsewhere."""
    manifest = head.manifest.model_dump(mode="json")
    contract = manifest.pop("contract")
    del manifest["fingerprint"]
    fixture = head.fixture
    return {
        "contract": contract,
        "tokenizer": json.loads(head.tokenizer),
        "manifest": manifest,
        "fixture": {
            "made_by": fixture.made_by.model_dump(mode="json"),
            "tolerances": {
                name: limits.model_dump(mode="json") for name, limits in fixture.tolerances.items()
            },
            "cases": dict(_cases(head)),
        },
    }


def _cases(head: FileHead) -> Iterator[tuple[str, Any]]:
    for case in head.fixture.cases:
        yield case.id, {"prompt": case.prompt, "texts": [*case.texts]}


def _purpose(contract: Contract) -> tuple[str, str, str]:
    return contract.task, _rows(contract), _several(contract)


def _rows(contract: Contract) -> str:
    return "of one text" if contract.pair is None else "of two texts"


def _several(contract: Contract) -> str:
    return "one vector a text" if contract.output.counts is None else "several vectors a text"


def _type(contract: Contract) -> str:
    return f"{'packed ' * contract.output.packed_bits}{contract.output.dtype}"
