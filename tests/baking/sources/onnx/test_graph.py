"""What the graph of an export may hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

from models.onnx.tiny_onnx import BODY, INPUTS, TOKENS, encoder, expected_tokens, write_encoder
from polybake.baking.bake import bake
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.errors import InputError, PolybakeError

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("opset", range(11, 27))
def test_keeps_every_opset(opset: int, tmp_path: Path) -> None:
    """From the oldest opset that is taken to the newest that ONNX Runtime loads."""
    body = "rows = Gather (table, input_ids)  last_hidden_state = Tanh (rows)"
    source = open_source(write_encoder(tmp_path / "m", encoder(body=body, opset=opset)))
    steps = resolve([{"step": "pool", "mode": "mean"}], base=tmp_path, source=source)
    out = bake(source, steps, tmp_path / "out.onnx", name="tiny").path
    model = onnx.load(out)
    assert [(one.domain, one.version) for one in model.opset_import] == [("", opset)]
    for case in read_head(out).fixture.cases:
        for ids, vector in zip(case.input_ids, decode_vectors(case.embeddings), strict=True):
            assert vector == pytest.approx(expected_tokens(list(ids)).mean(axis=0), abs=1e-5)


def test_refuses_two_opsets(tmp_path: Path) -> None:
    """ONNX's operators go by two names; which of two versions is meant is not for us to say."""
    model = encoder(opset=18)
    model.opset_import.add(domain="ai.onnx", version=13)
    with pytest.raises(InputError, match="operators at the opsets 18 and 13; export it with one"):
        open_source(write_encoder(tmp_path, model))


def test_refuses_custom_operators(tmp_path: Path) -> None:
    """An operator of an unknown domain is refused, also inside a function of the file."""
    body = BODY.replace("Tanh", "evil.Tanh")
    direct = encoder(body=body, domains=', "evil" : 1')
    inside = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 12, "own" : 1]>\n'
        f"encoder ({INPUTS}) => ({TOKENS}) {{ last_hidden_state = own.f (input_ids) }}\n"
        '<domain: "own", opset_import: ["" : 12, "evil" : 1]> f (x) => (y) { y = evil.Run (x) }'
    )
    for model, name in ((direct, "evil.Tanh"), (inside, "evil.Run")):
        with pytest.raises(InputError, match=f"uses the custom operator {name}"):
            open_source(write_encoder(tmp_path / name, model))


def test_damage_is_refused_in_a_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """One bit of a file is another: it bakes, or a line says why it does not."""
    path, out = write_encoder(tmp_path / "m"), tmp_path / "out.onnx"
    whole, draw = path.read_bytes(), np.random.default_rng(2)
    refused: list[str] = []
    for place, bit in zip(
        draw.integers(len(whole), size=100), draw.integers(8, size=100), strict=True
    ):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << bit
        path.write_bytes(damaged)
        try:
            source = open_source(path)
            steps = resolve([{"step": "pool", "mode": "mean"}], base=tmp_path, source=source)
            bake(source, steps, out, name="tiny")
        except PolybakeError as error:
            refused.append(str(error))
    assert 10 < len(refused) < 90
    assert not [message for message in refused if "\n" in message]
    assert "".join(capfd.readouterr()) == ""


@pytest.mark.parametrize("name", [b"rows", b"attention_mask", b"length", b"Tanh"])
def test_names_are_text(name: bytes, tmp_path: Path) -> None:
    path = write_encoder(tmp_path / "m")
    path.write_bytes(path.read_bytes().replace(name, b"\xff" * len(name)))
    with pytest.raises(InputError, match="is not UTF-8"):
        open_source(path)
