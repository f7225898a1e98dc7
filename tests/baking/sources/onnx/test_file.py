"""Existing ONNX encoders: the graph surgery case."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

import polybake
from models.folders.tiny_folders import write_json
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
from polybake.baking.bake import bake
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.errors import InputError
from polybake.runtime.session import open_session

pytestmark = pytest.mark.slow

XLMR = Path(__file__).parents[4] / "fixtures" / "xlmr" / "model.onnx"
POOL = [{"step": "pool", "mode": "mean"}]


def bake_file(path: Path, out: Path, specs: Sequence[dict[str, object]] = POOL) -> onnx.ModelProto:
    source = open_source(path)
    report = bake(source, resolve(specs, base=path.parent, source=source), out, name="tiny")
    assert report.manifest.verified == "source"
    return onnx.load(out)


def vectors(path: Path) -> list[tuple[list[int], NDArray[np.float32]]]:
    """Each text's ids and golden vector in a baked file."""
    return [
        (list(ids), row)
        for case in read_head(path).fixture.cases
        for ids, row in zip(case.input_ids, decode_vectors(case.embeddings), strict=True)
    ]


def assert_mean_of_tokens(path: Path) -> None:
    found = vectors(path)
    assert len(found) > 20
    for ids, vector in found:
        assert vector == pytest.approx(expected_tokens(ids).mean(axis=0), abs=1e-5)


def test_xlmr_as_torch_exports_it(tmp_path: Path) -> None:
    """A torch.onnx file of opset 11 keeps its opset, and gives the mean of what it gave."""
    specs = [*POOL, {"step": "normalize"}]
    model = bake_file(XLMR, tmp_path / "out.onnx", specs)
    assert [(one.domain, one.version) for one in model.opset_import] == [("", 11)]
    head = read_head(tmp_path / "out.onnx")
    contract = head.manifest.contract
    assert [one.name for one in contract.inputs] == ["input_ids", "attention_mask"]
    assert (contract.max_length, contract.pad_id, contract.output.dimension) == (24, 1, 20)
    session = open_session(XLMR)
    for ids, vector in vectors(tmp_path / "out.onnx"):
        fed = {"input_ids": np.array([ids]), "attention_mask": np.ones((1, len(ids)), np.int64)}
        mean = session.run(None, fed)[0][0].mean(axis=0)
        assert vector == pytest.approx(mean / np.sqrt((mean**2).sum()), abs=1e-6)


def test_shape_of_what_is_written(tmp_path: Path) -> None:
    """The file has the named inputs, one output, symbolic axes, and none of the source's words."""
    source = encoder(outputs=f"{TOKENS}, {POOLED}")
    source.metadata_props.add(key="author", value="someone")
    source.doc_string = source.graph.node[0].doc_string = "/home/someone/export.py"
    model = bake_file(write_encoder(tmp_path / "m", source), tmp_path / "out.onnx")
    assert [shown(value) for value in model.graph.input] == [
        "input_ids batch,sequence",
        "attention_mask batch,sequence",
    ]
    assert [shown(value) for value in model.graph.output] == [f"sentence_embedding batch,{HIDDEN}"]
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
    contract = read_head(tmp_path / "out.onnx").manifest.contract
    assert {one.name: one.feed for one in contract.inputs} == {
        "input_ids": "input_ids",
        "attention_mask": "attention_mask",
    }
    session = open_session(tmp_path / "out.onnx")
    assert {one.type for one in session.get_inputs()} == {"tensor(int64)"}


def test_float16_is_computed_in_float32(tmp_path: Path) -> None:
    """Nothing of a float16 file is rounded but its weights."""
    half = encoder(
        outputs=TOKENS.replace("float[", "float16["),
        body="""
            rows = Gather (table, input_ids)
            narrow = Cast <to = 10> (rows)
            last_hidden_state = Tanh (narrow)
        """,
    )
    bake_file(write_encoder(tmp_path / "m", half), tmp_path / "out.onnx")
    for ids, vector in vectors(tmp_path / "out.onnx"):
        assert vector == pytest.approx(expected_tokens(ids).mean(axis=0), abs=1e-6)


def test_refuses_positions_that_clients_do_not_count(tmp_path: Path) -> None:
    """A RoBERTa counts from behind its padding id, and clients from 0."""
    inputs = f"{INPUTS}, int64[batch_size, length] position_ids"
    path = write_encoder(tmp_path / "m", encoder(inputs=inputs))
    open_source(path)
    write_json(tmp_path / "m" / "config.json", {"model_type": "roberta"})
    with pytest.raises(InputError, match="wants position_ids as roberta counts them"):
        open_source(path)


def test_pooled_output_is_taken_where_no_step_pools(tmp_path: Path) -> None:
    """With both outputs a pool step gets tokens, and other steps get the pooled vector."""
    named = {"pooler_output": "sentence_embedding"}
    both = encoder(
        outputs=f"{TOKENS}, {POOLED}".replace(*named, named["pooler_output"]),
        body=BODY.replace(*named, named["pooler_output"]),
    )
    path = write_encoder(tmp_path / "m", both)
    for number, specs in enumerate(([], [{"step": "scale", "factor": 1.0}], POOL)):
        out = tmp_path / f"{number}.onnx"
        divisions = [
            node for node in bake_file(path, out, specs).graph.node if node.op_type == "Div"
        ]
        assert_mean_of_tokens(out)
        assert len(divisions) == 1


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
    first = write_encoder(tmp_path / "m")
    bake_file(first, tmp_path / "m" / "again.onnx", [*POOL, {"step": "normalize"}])
    bake_file(tmp_path / "m" / "again.onnx", tmp_path / "out.onnx", [{"step": "normalize"}])
    for ids, vector in vectors(tmp_path / "out.onnx"):
        mean = expected_tokens(ids).mean(axis=0)
        assert vector == pytest.approx(mean / np.sqrt((mean**2).sum()), abs=1e-5)


def test_tokenizer_one_folder_up(tmp_path: Path) -> None:
    """The file may lie in onnx/ of a sentence-transformers folder, whose settings then count."""
    path = write_encoder(tmp_path / "m")
    (tmp_path / "m" / "onnx").mkdir()
    path = path.rename(tmp_path / "m" / "onnx" / "model.onnx")
    types = "sentence_transformers.models"
    write_json(
        tmp_path / "m" / "modules.json",
        [
            {"idx": 0, "name": "0", "path": "", "type": f"{types}.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{types}.Pooling"},
        ],
    )
    (tmp_path / "m" / "1_Pooling").mkdir()
    write_json(tmp_path / "m" / "1_Pooling" / "config.json", {"pooling_mode": "mean"})
    write_json(tmp_path / "m" / "sentence_bert_config.json", {"max_seq_length": 11})
    source = open_source(path)
    assert (source.recipe, source.max_length, source.encoder.name) == (tuple(POOL), 11, "onnx")
    pooled = encoder(
        outputs=POOLED.replace("pooler_output", "sentence_embedding"),
        body=BODY.replace("pooler_output", "sentence_embedding"),
    )
    onnx.save(pooled, path)
    assert open_source(path).recipe == ()
    onnx.save(encoder(outputs=POOLED), path)
    shown = r"which of the folder's steps \(pool\) output 'pooler_output' went through is not known"
    with pytest.raises(InputError, match=shown):
        open_source(path)


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (
            encoder(
                inputs="int64[b, s] x, int64[b, s] attention_mask",
                body=BODY.replace("input_ids", "x"),
            ),
            "unknown input 'x'; .*; export",
        ),
        (
            encoder(
                inputs=INPUTS.replace("attention_mask", "position_ids"),
                body=BODY.replace("attention_mask", "position_ids"),
            ),
            "no input att",
        ),
        (encoder(inputs=INPUTS.replace("int64", "float")), "'input_ids' is FLOAT"),
        (encoder(inputs=INPUTS.replace(", length]", "]")), r"'input_ids' is INT64 \[batch_size\]"),
        (encoder(inputs=INPUTS.replace("length", "8")), r"fixed shape \[batch_size,8\]"),
        (
            encoder(outputs="float[a, 2, 3, 4] rows"),
            "no output is surely the embeddings: rows FLOAT",
        ),
        (encoder(outputs="float[a, b, 4] rows, float[a, b, 4] weighted"), "no output is surely"),
        (encoder(outputs="int64[a, b, 4] rows"), "no output is surely"),
        (encoder(opset=9), "has opset 9, expected 11 to 26; export it again"),
    ],
)
def test_names_what_does_not_fit(source: onnx.ModelProto, shown: str, tmp_path: Path) -> None:
    """An input, output or opset that cannot be baked is an error with what was found."""
    with pytest.raises(InputError, match=shown):
        open_source(write_encoder(tmp_path / "m", source))


def test_needs_a_tokenizer(tmp_path: Path) -> None:
    """Without tokenizer.json and older files the error says how to write one."""
    path = write_encoder(tmp_path / "m")
    (tmp_path / "m" / "tokenizer.json").unlink()
    with pytest.raises(
        InputError, match=r"no tokenizer\.json, and no vocab\.txt .*; download one or"
    ):
        open_source(path)


LOGITS = (
    BODY
    + """
    logits = MatMul (pooler_output, head)
"""
)
HEAD = np.random.default_rng(3).normal(size=(HIDDEN, 3)).astype(np.float32)


def write_classifier(folder: Path, outputs: str, *labels: str) -> Path:
    """An encoder whose graph ends in a number for each of three labels."""
    model = encoder(outputs=outputs, body=LOGITS)
    model.graph.initializer.append(onnx.numpy_helper.from_array(HEAD, "head"))
    path = write_encoder(folder, model)
    named = {str(place): label for place, label in enumerate(labels)}
    write_json(
        folder / "config.json",
        {
            "model_type": "bert",
            "architectures": ["BertForSequenceClassification"],
            "id2label": named,
        },
    )
    return path


@pytest.mark.parametrize("outputs", ["", f"{TOKENS}, "], ids=["logits", "token embeddings, too"])
def test_a_head_in_the_graph_is_a_task(outputs: str, tmp_path: Path) -> None:
    """config.json beside the file names its numbers; scores are their softmax."""
    outputs += "float[batch_size, 3] logits"
    path = write_classifier(tmp_path / "model", outputs, "joy", "anger", "fear")
    report = polybake.bake(path, tmp_path / "m.onnx", name="m")
    assert (report.manifest.contract.task, report.manifest.verified) == ("classify", "source")
    assert report.manifest.contract.settings == {"labels": ["joy", "anger", "fear"]}
    for ids, scores in vectors(tmp_path / "m.onnx"):
        odds = np.exp(expected_tokens(ids).mean(axis=0) @ HEAD)
        assert scores == pytest.approx(odds / odds.sum(), abs=1e-5)


def test_a_head_of_entailment_takes_pairs(tmp_path: Path) -> None:
    """The pairs are those of the tokenizer beside the file."""
    labels = ("contradiction", "neutral", "entailment")
    path = write_classifier(tmp_path / "model", "float[batch_size, 3] logits", *labels)
    report = polybake.bake(path, tmp_path / "m.onnx", name="m")
    assert (report.manifest.contract.task, report.manifest.contract.output.dimension) == (
        "zero-shot",
        2,
    )
    for ids, numbers in vectors(tmp_path / "m.onnx"):
        logits = expected_tokens(ids).mean(axis=0) @ HEAD
        assert numbers == pytest.approx(logits[[2, 0]], abs=1e-5)


def test_token_embeddings_beside_a_head_still_embed(tmp_path: Path) -> None:
    """Where the user lists steps."""
    outputs = f"{TOKENS}, float[batch_size, 3] logits"
    path = write_classifier(tmp_path / "model", outputs, "joy", "anger", "fear")
    polybake.bake(path, tmp_path / "m.onnx", name="m", steps=POOL)
    assert_mean_of_tokens(tmp_path / "m.onnx")


TAGS = (
    BODY
    + """
    logits = MatMul (last_hidden_state, head)
"""
)


@pytest.mark.parametrize("architecture", ["BertForMaskedLM", "BertForTokenClassification"])
@pytest.mark.parametrize("outputs", ["", f"{TOKENS}, "], ids=["logits", "token embeddings, too"])
def test_logits_of_tokens_are_a_taggers(outputs: str, architecture: str, tmp_path: Path) -> None:
    """By config.json: those of a masked language model have as many axes, and embed nothing."""
    logits = "float[batch_size, sequence_length, 3] logits"
    model = encoder(outputs=f"{outputs}{logits}", body=TAGS)
    model.graph.initializer.append(onnx.numpy_helper.from_array(HEAD, "head"))
    path = write_encoder(tmp_path / "model", model)
    labels = {"0": "O", "1": "B-A", "2": "I-A"}
    config = {"model_type": "bert", "architectures": [architecture], "id2label": labels}
    write_json(tmp_path / "model/config.json", config)
    if architecture == "BertForMaskedLM" and not outputs:
        with pytest.raises(InputError, match="no output is surely the embeddings: logits"):
            open_source(path)
        return
    if outputs:
        polybake.bake(path, tmp_path / "m.onnx", name="m", steps=POOL)
        assert_mean_of_tokens(tmp_path / "m.onnx")
    if architecture == "BertForTokenClassification":
        report = polybake.bake(path, tmp_path / "tag.onnx", name="m")
        assert (report.manifest.contract.task, report.manifest.verified) == ("tag", "source")
