"""A small model file with a fixture, and clients whose harness answers from that fixture.

The file's graph is empty: nothing here runs a model, the harnesses know the golden answers.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from polybake.base.modelfile import container as modelfile
from polybake.base.modelfile.fixture import Case, Fixture, MadeBy, Vectors, encode_vectors
from polybake.base.modelfile.manifest import Contract, Input, Manifest, Output, Provenance
from polybake.base.modelfile.tolerance import TOLERANCES, Slack
from polybake.verification.harness.harness_file import Client

DIMENSION = 8
NAME = "tiny-model"
FINGERPRINT = "f" * 64
OUTPUTS = {
    "float32": Output(name="sentence_embedding", dimension=DIMENSION),
    "int8": Output(name="sentence_embedding", dtype="int8", dimension=DIMENSION),
    "ubinary": Output(
        name="sentence_embedding", dtype="uint8", dimension=DIMENSION, packed_bits=True
    ),
}

#: The prompt of each case, and a text with its token ids for each of its rows.
CASES = {
    "one": (None, [("a", [2, 10, 3])]),
    "two": (None, [("b", [2, 11, 3]), ("c d", [2, 12, 13, 3])]),
    "three": (None, [("e", [2, 14, 3]), ("f g h", [2, 15, 16, 17, 3]), ("", [2, 3])]),
    "query": ("query", [("a", [2, 20, 10, 3])]),
}

TESTS = Path(__file__).parents[1]


@dataclass(frozen=True)
class SubjectFiles:
    """A model file, its fixture, and the same as JSON for the harnesses."""

    model: Path
    fixture: Fixture
    answers: Path

    def client(self, fault: str = "none", *, language: str = "tiny", **fields) -> Client:
        """A client whose harness has the fault named: see faults.py."""
        return Client(
            language=language,
            folder=self.answers.parent,
            run=(sys.executable, "-m", "faulty", str(self.answers), fault, language),
            environment={"PYTHONPATH": str(TESTS)},
            **fields,
        )

    def write_client(self, folder: Path, fault: str = "none", language: str = "tiny") -> Path:
        """The folder of such a client, written."""
        client = self.client(fault, language=language)
        folder.mkdir(parents=True)
        harness = {
            "language": language,
            "run": client.run,
            "environment": client.environment,
        }
        (folder / "harness.json").write_text(json.dumps(harness))
        return folder


def write_subject(folder: Path, precision: str = "float32") -> SubjectFiles:
    """Write the model file and the harnesses' answers into a folder."""
    output = OUTPUTS[precision]
    fixture = make_fixture(output)
    tail = folder / "tail.bin"
    tail.write_bytes(b"\x08\x0a" + b"\x3a\x00")  # ir_version: 10, graph: {}
    model = folder / "tiny model.onnx"
    manifest = make_manifest(output)
    modelfile.write(model, tail, manifest, '{"version": "1.0"}', fixture)
    answers = folder / "answers.json"
    answers.write_text(
        json.dumps(
            {"name": NAME, "fingerprint": FINGERPRINT, "fixture": fixture.model_dump(mode="json")}
        )
    )
    return SubjectFiles(model, fixture, answers)


def make_fixture(output: Output = OUTPUTS["float32"]) -> Fixture:
    """Golden cases with seeded unit vectors, or integers of which one of each case may differ."""
    random = np.random.default_rng(5)
    cases = []
    for case_id, (prompt, rows) in CASES.items():
        cases.append(
            Case(
                id=case_id,
                why="shows what the judge does with it",
                prompt=prompt,
                texts=tuple(text for text, _ in rows),
                input_ids=tuple(tuple(ids) for _, ids in rows),
                embeddings=make_vectors(random, len(rows), output),
            )
        )
    return Fixture(
        fingerprint=FINGERPRINT,
        made_by=MadeBy(kind="reference", packages={}),
        tolerances=TOLERANCES,
        cases=tuple(cases),
    )


def make_vectors(random: np.random.Generator, rows: int, output: Output) -> Vectors:
    """Seeded golden vectors."""
    if output.dtype == "float32":
        vectors = random.standard_normal((rows, DIMENSION))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return encode_vectors(vectors.astype(np.float32))
    slack = np.zeros((rows, DIMENSION), np.uint8)
    slack[0, 0] = 1
    lowest, highest = (0, 256) if output.dtype == "uint8" else (-120, 120)
    integers = random.integers(lowest, highest, (rows, DIMENSION)).astype(output.dtype)
    return encode_vectors(integers, Slack(slack, packed_bits=output.packed_bits))


def make_manifest(output: Output) -> Manifest:
    """A manifest that fits the fixture."""
    return Manifest(
        name=NAME,
        contract=Contract(
            vocab_size=1000,
            inputs=(Input(name="input_ids", feed="input_ids"),),
            output=output,
            max_length=16,
            pad_id=0,
            prompts={"query": "query: "},
        ),
        steps=(),
        encoder="onnx",
        opset=18,
        source=Provenance(identifier="none"),
        generator="0.1.0",
        fingerprint=FINGERPRINT,
        verified="steps",
    )
