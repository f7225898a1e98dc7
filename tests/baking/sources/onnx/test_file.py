"""Existing ONNX encoders: the graph surgery case."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from numpy.typing import NDArray

from models.bake import bake
from models.folders.tiny_folders import write_json, write_sentence_transformers
from models.onnx.tiny_onnx import (
    BODY,
    HIDDEN,
    INPUTS,
    POOLED,
    TOKENS,
    encoder,
    expected_tokens,
    write_encoder,
)
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.errors import InputError, PolybakeError
from polybake.runtime.session import open_session

pytestmark = pytest.mark.slow

XLMR = Path(__file__).parents[4] / "fixtures" / "xlmr" / "model.onnx"
POOL = [{"step": "pool", "mode": "mean"}]
SENTENCE = POOLED.replace("pooler_output", "sentence_embedding")
IN_SENTENCE = BODY.replace("pooler_output", "sentence_embedding")
#: Opsets whose operators are written otherwise than those of the one before.
OFTEN = (11, 12, 13, 18, 20, 23, 26)
TANH = "rows = Gather (table, input_ids)  last_hidden_state = Tanh (rows)"


def bake_file(path: Path, out: Path, specs: Sequence[dict[str, object]] = POOL) -> onnx.ModelProto:
    source = open_source(path)
    report = bake(source, resolve(specs, base=path.parent, source=source), out, name="tiny")
    assert report.manifest.verified == "source"
    return onnx.load(out)


def vectors(path: Path) -> list[tuple[list[int], NDArray[np.float32]]]:
    """Each text's ids and golden vector in a baked file."""
    found = [
        (list(ids), row)
        for case in read_head(path).fixture.cases
        for ids, row in zip(case.input_ids, decode_vectors(case.embeddings), strict=True)
    ]
    assert len(found) > 20
    return found


def assert_mean_of_tokens(path: Path, limit: float = 1e-5) -> None:
    for ids, vector in vectors(path):
        assert vector == pytest.approx(expected_tokens(ids).mean(axis=0), abs=limit)


def test_xlmr_as_torch_exports_it(tmp_path: Path) -> None:
    """A torch.onnx file of opset 11 keeps its opset, and gives the mean of what it gave."""
    specs = [*POOL, {"step": "normalize"}]
    model = bake_file(XLMR, tmp_path / "out.onnx", specs)
    assert [(one.domain, one.version) for one in model.opset_import] == [("", 11)]
    contract = read_head(tmp_path / "out.onnx").manifest.contract
    assert [one.name for one in contract.inputs] == ["input_ids", "attention_mask"]
    assert (contract.max_length, contract.pad_id, contract.output.dimension) == (24, 1, 20)
    session = open_session(XLMR)
    for ids, vector in vectors(tmp_path / "out.onnx"):
        fed = {"input_ids": np.array([ids]), "attention_mask": np.ones((1, len(ids)), np.int64)}
        mean = session.run(None, fed)[0][0].mean(axis=0)
        assert vector == pytest.approx(mean / np.sqrt((mean**2).sum()), abs=1e-6)


@pytest.mark.parametrize(
    "opset",
    [
        pytest.param(opset, marks=[] if opset in OFTEN else pytest.mark.weekly)
        for opset in range(11, 27)
    ],
)
def test_every_opset_is_kept(opset: int, tmp_path: Path) -> None:
    """From the oldest opset that is taken to the newest that ONNX Runtime loads."""
    path = write_encoder(tmp_path / "m", encoder(body=TANH, opset=opset))
    model = bake_file(path, tmp_path / "out.onnx")
    assert [(one.domain, one.version) for one in model.opset_import] == [("", opset)]
    assert_mean_of_tokens(tmp_path / "out.onnx")


def test_shape_of_what_is_written(tmp_path: Path) -> None:
    """The file has the named inputs, one output, symbolic axes, and none of the source's words."""
    source = encoder(outputs=f"{TOKENS}, {POOLED}")
    source.metadata_props.add(key="author", value="someone")
    source.doc_string = source.graph.node[0].doc_string = "/home/someone/export.py"
    model = bake_file(write_encoder(tmp_path / "m", source), tmp_path / "out.onnx")
    assert [shown(value) for value in [*model.graph.input, *model.graph.output]] == [
        "input_ids batch,sequence",
        "attention_mask batch,sequence",
        f"sentence_embedding batch,{HIDDEN}",
    ]
    assert b"someone" not in (tmp_path / "out.onnx").read_bytes()
    assert {entry.key.split(".")[0] for entry in model.metadata_props} == {"polybake"}
    # The source's own pooling is no longer in the graph: one division, by the step.
    assert [node.op_type for node in model.graph.node].count("Div") == 1


def shown(value: onnx.ValueInfoProto) -> str:
    axes = value.type.tensor_type.shape.dim
    return f"{value.name} {','.join(axis.dim_param or str(axis.dim_value) for axis in axes)}"


@pytest.mark.parametrize(
    "source",
    [
        encoder(inputs="int64[b, s] attention_mask, int64[b, s] input_ids"),
        encoder(outputs=f"{POOLED}, {TOKENS}"),
        encoder(inputs=INPUTS.replace("int64", "int32")),
        encoder(ir_version=3),
        encoder(
            outputs=f"float[batch_size, length, {HIDDEN}] embedding",
            body=BODY.replace("last_hidden_state", "embedding"),
        ),
        encoder(outputs="float last_hidden_state"),
    ],
    ids=["other order", "pooled first", "int32", "weights as inputs", "other name", "no shape"],
)
def test_finds_inputs_and_output(source: onnx.ModelProto, tmp_path: Path) -> None:
    """Inputs are found by name and the output by shape, in any order and of any integer type."""
    if source.ir_version == 3:
        table = source.graph.initializer[0]
        source.graph.input.append(
            onnx.helper.make_tensor_value_info(table.name, table.data_type, table.dims)
        )
    for output in source.graph.output:
        if output.type.tensor_type.HasField("shape") and not output.type.tensor_type.shape.dim:
            output.type.tensor_type.ClearField("shape")
    bake_file(write_encoder(tmp_path / "m", source), tmp_path / "out.onnx")
    assert_mean_of_tokens(tmp_path / "out.onnx")
    inputs = read_head(tmp_path / "out.onnx").manifest.contract.inputs
    assert {one.name: one.feed for one in inputs} == {
        "input_ids": "input_ids",
        "attention_mask": "attention_mask",
    }
    session = open_session(tmp_path / "out.onnx")
    assert {one.type for one in session.get_inputs()} == {"tensor(int64)"}


def test_float16_is_computed_in_float32(tmp_path: Path) -> None:
    """Nothing of a float16 file is rounded but its weights."""
    body = """
        rows = Gather (table, input_ids)
        narrow = Cast <to = 10> (rows)
        last_hidden_state = Tanh (narrow)
    """
    source = encoder(outputs=TOKENS.replace("float[", "float16["), body=body)
    bake_file(write_encoder(tmp_path / "m", source), tmp_path / "out.onnx")
    assert_mean_of_tokens(tmp_path / "out.onnx", limit=1e-6)


@pytest.mark.parametrize("specs", [[], [{"step": "scale", "factor": 1.0}], POOL])
def test_pooled_output_is_taken_where_no_step_pools(
    specs: list[dict[str, object]], tmp_path: Path
) -> None:
    """With both outputs a pool step gets tokens, and other steps get the pooled vector."""
    both = encoder(outputs=f"{TOKENS}, {SENTENCE}", body=IN_SENTENCE)
    model = bake_file(write_encoder(tmp_path / "m", both), tmp_path / "out.onnx", specs)
    assert_mean_of_tokens(tmp_path / "out.onnx")
    assert [node.op_type for node in model.graph.node].count("Div") == 1


def test_pooled_file_is_not_pooled_again(tmp_path: Path) -> None:
    """A file that only gives a pooled vector is baked as it is; a pool step on it is refused."""
    path = write_encoder(tmp_path / "m", encoder(outputs=POOLED))
    with pytest.raises(InputError, match=r"steps\[0\]: pool needs token.*'encoder.pooler_output'"):
        bake_file(path, tmp_path / "out.onnx")
    assert not (tmp_path / "out.onnx").exists()
    bake_file(path, tmp_path / "out.onnx", [])
    assert_mean_of_tokens(tmp_path / "out.onnx")


def test_baked_file_can_be_baked_again(tmp_path: Path) -> None:
    """A baked file is a source too: the names of its steps meet none of the new ones."""
    bake_file(write_encoder(tmp_path / "m"), tmp_path / "m" / "again.onnx")
    bake_file(tmp_path / "m" / "again.onnx", tmp_path / "out.onnx", [{"step": "normalize"}])
    for ids, vector in vectors(tmp_path / "out.onnx"):
        mean = expected_tokens(ids).mean(axis=0)
        assert vector == pytest.approx(mean / np.sqrt((mean**2).sum()), abs=1e-5)


def test_the_folder_may_be_one_up(tmp_path: Path) -> None:
    """A file in onnx/ of a sentence-transformers folder has its tokenizer, settings and steps."""
    folder = write_sentence_transformers(tmp_path / "m", ("Pooling", {"pooling_mode": "mean"}))
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 11})
    (folder / "onnx").mkdir()
    path = folder / "onnx" / "model.onnx"
    onnx.save(encoder(), path)
    source = open_source(path)
    assert (source.recipe, source.max_length, source.encoder.name) == (tuple(POOL), 11, "onnx")
    onnx.save(encoder(outputs=SENTENCE, body=IN_SENTENCE), path)
    assert open_source(path).recipe == ()


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"inputs": INPUTS.replace("int64", "float")}, "'input_ids' is FLOAT"),
        ({"inputs": INPUTS.replace(", length]", "]")}, r"'input_ids' is INT64 \[batch_size\]"),
        ({"inputs": INPUTS.replace("length", "8")}, r"fixed shape \[batch_size,8\]"),
        ({"outputs": "float[a, b, 4] rows, float[a, b, 4] weighted"}, "no output is surely"),
        ({"opset": 9}, "has opset 9, expected 11 to 26; export it again"),
    ],
)
def test_names_what_does_not_fit(changes: dict[str, object], shown: str, tmp_path: Path) -> None:
    """An input, output or opset that cannot be baked is an error with what was found."""
    with pytest.raises(InputError, match=shown):
        open_source(write_encoder(tmp_path / "m", encoder(**changes)))


def test_custom_operators_are_refused(tmp_path: Path) -> None:
    """An operator of an unknown domain, also inside a function of the file."""
    inside = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 12, "own" : 1]>\n'
        f"encoder ({INPUTS}) => ({TOKENS}) {{ last_hidden_state = own.f (input_ids) }}\n"
        '<domain: "own", opset_import: ["" : 12, "evil" : 1]> f (x) => (y) { y = evil.Run (x) }'
    )
    direct = encoder(body=BODY.replace("Tanh", "evil.Run"), domains=', "evil" : 1')
    for number, model in enumerate((direct, inside)):
        with pytest.raises(InputError, match=r"uses the custom operator evil\.Run"):
            open_source(write_encoder(tmp_path / str(number), model))


@pytest.mark.weekly
def test_damage_is_refused_in_a_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """One bit of a file is another: it bakes, or a line says why it does not."""
    path, draw = write_encoder(tmp_path / "m"), np.random.default_rng(2)
    whole, refused = path.read_bytes(), list[str]()
    for place, bit in zip(
        draw.integers(len(whole), size=100), draw.integers(8, size=100), strict=True
    ):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << bit
        path.write_bytes(damaged)
        try:
            bake_file(path, tmp_path / "out.onnx")
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
