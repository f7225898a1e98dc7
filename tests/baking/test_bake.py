"""A source becomes a proven model file, with routes, too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnxscript import OpBuilder, ir

from models.bake import bake
from models.folders.tiny_folders import (
    CONFIG,
    bert_weights,
    write_bert,
)
from models.onnx.tiny_onnx import BODY, HIDDEN, INPUTS, POOLED, encoder, write_encoder
from polybake.baking.bake import BakeReport
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.baking.steps.step import Pointwise
from polybake.base.modelfile.container import check_digest, read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.errors import CheckFailed, InputError
from polybake.runtime.embedder import Embedder
from polybake.runtime.session import open_session
from polybake.steps import Floats, Normalize, Pool, Route, Scale, Step

pytestmark = pytest.mark.slow

STEPS = [Pool(mode="mean"), Normalize()]


def bake_tiny(folder: Path, out: Path, steps: list[Step] = STEPS, **options: object) -> BakeReport:
    return bake(open_source(folder), steps, out, name="tiny-bert", **options)  # type: ignore[arg-type]


def test_writes_what_it_proved(tmp_path: Path) -> None:
    """Manifest, tokenizer and cases agree with the encoder and the steps, in a valid ONNX file."""
    folder = write_bert(tmp_path / "model")
    report = bake_tiny(folder, tmp_path / "new folder" / "out.onnx", description="A test.")
    head = read_head(report.path)
    assert head.manifest == report.manifest
    assert report.size == report.path.stat().st_size
    assert report.cases == len(head.fixture.cases) > 20
    check_digest(head)
    assert head.fixture.fingerprint == head.manifest.fingerprint
    assert (head.manifest.name, head.manifest.description) == ("tiny-bert", "A test.")
    assert head.manifest.steps == ("pool(mode=mean)", "normalize()")
    assert (head.manifest.encoder, head.manifest.opset) == ("bert", 18)
    assert (head.manifest.verified, head.fixture.made_by.kind) == ("steps", "reference")
    assert head.manifest.contract.output.dimension == CONFIG["hidden_size"]
    assert report.differences.keys() == {"steps", "batch", "padding"}
    assert 0 < max(report.differences.values()) < 1e-6
    assert report.seconds.keys() == {"build", "golden", "prove", "write"}

    onnx.checker.check_model(report.path, full_check=True)
    model = onnx.load(report.path)
    assert (model.ir_version, model.producer_name) == (8, "polybake")
    axes = model.graph.output[0].type.tensor_type.shape.dim
    assert [value.name for value in model.graph.output] == ["sentence_embedding"]
    assert (axes[0].dim_param, axes[1].dim_value) == ("batch", 12)

    reference = open_source(folder).encoder.reference(tmp_path)
    session = open_session(reference.path)
    for case in head.fixture.cases:
        for ids, vector in zip(case.input_ids, decode_vectors(case.embeddings), strict=True):
            fed = {name: np.array([ids]) for name in ("input_ids",)}
            fed |= {"attention_mask": np.ones_like(fed["input_ids"])}
            mean = session.run(None, fed)[0][0].mean(axis=0)
            assert vector == pytest.approx(mean / np.sqrt((mean**2).sum()), abs=1e-6)


def test_prompts_and_own_cases(tmp_path: Path) -> None:
    """Prompts replace the source's, the default one applies, and own cases come last."""
    folder = write_bert(tmp_path / "model")
    (tmp_path / "own.txt").write_text("the river\n")
    report = bake_tiny(
        folder,
        tmp_path / "out.onnx",
        prompts={"query": "query: "},
        default_prompt="query",
        texts=[tmp_path / "own.txt"],
    )
    assert report.manifest.contract.prompts == {"query": "query: "}
    assert report.manifest.contract.default_prompt == "query"
    mine = read_head(report.path).fixture.cases[-1]
    assert (mine.id, mine.input_ids) == ("user-001", ((2, 11, 13, 5, 7, 3),))


def test_a_refused_bake_leaves_what_was_there(tmp_path: Path) -> None:
    """Wrong input is one line, and what stood at the output's place stays."""
    folder, out = write_bert(tmp_path / "model"), tmp_path / "out.onnx"
    bake_tiny(folder, out)
    before = out.read_bytes()
    with pytest.raises(InputError, match=r"steps: they end in \[batch,sequence,12\]") as raised:
        bake(open_source(folder), [], out)
    assert "\n" not in str(raised.value)
    assert out.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "out.onnx"]


def test_names_decide_no_vector(tmp_path: Path) -> None:
    """The fingerprint is another where the steps are, and the same where only words are."""
    source, out = open_source(write_bert(tmp_path / "model")), tmp_path / "out.onnx"
    plain = bake(source, STEPS, out, name="one").manifest
    named = bake(source, STEPS, out, name="two", description="Another.").manifest
    assert (named.name, named.description) == ("two", "Another.")
    assert named.fingerprint == plain.fingerprint
    assert bake(source, STEPS[:1], out, name="one").manifest.fingerprint != plain.fingerprint


@pytest.mark.parametrize("place", ["model.onnx", "."])
def test_overwrites_only_an_earlier_bake(place: str, tmp_path: Path) -> None:
    """The source and a folder stay as they are."""
    model = write_encoder(tmp_path)
    out = tmp_path / place
    before = None if out.is_dir() else out.read_bytes()
    with pytest.raises(InputError, match="is there already, and is no file that polybake wrote"):
        bake_tiny(model, out)
    assert out.is_dir() or out.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (
            "mean = ReduceMean <axes = [0]> (total) pooler_output = Sub (total, mean)",
            "each text alone, in a batch",
        ),
        (
            "mean = ReduceMean <axes = [1], keepdims = 0> (rows) pooler_output = Add (total, mean)",
            "each text alone",
        ),
        (
            "zero = Sub (total, total) pooler_output = Div (zero, zero)",
            "by nan, .*the encoder alone gives NaN",
        ),
    ],
    ids=["neighbours", "padding", "not a number"],
)
def test_fails_when_a_vector_depends_on_its_batch(change: str, shown: str, tmp_path: Path) -> None:
    """An encoder that mixes texts, counts padding or gives NaN is never written."""
    body = BODY.replace("pooler_output = Div (total, count)", change)
    path = write_encoder(tmp_path / "model", encoder(body=body, outputs=POOLED))
    with pytest.raises(CheckFailed, match=shown):
        bake_tiny(path, tmp_path / "out.onnx", [])
    assert not (tmp_path / "out.onnx").exists()


def test_names_a_foreign_tokenizer(tmp_path: Path) -> None:
    """A tokenizer whose ids the model does not have is found before anything is written."""
    config = CONFIG | {"vocab_size": 10}
    folder = write_bert(tmp_path / "model", config, bert_weights(config))
    with pytest.raises(InputError, match=r"table of 10 rows has none, such as '.*' \(10\)"):
        bake_tiny(folder, tmp_path / "out.onnx")
    assert not (tmp_path / "out.onnx").exists()


def test_refuses_a_false_shape(tmp_path: Path) -> None:
    """An output that declares another size than it has is found before anything is written."""
    lie = f"float[batch_size, length, {HIDDEN + 1}] last_hidden_state"
    path = write_encoder(tmp_path / "model", encoder(inputs=INPUTS, outputs=lie))
    with pytest.raises(CheckFailed, match=r"not valid ONNX: .*shape differ in dimension 2"):
        bake_tiny(path, tmp_path / "out.onnx")
    assert not (tmp_path / "out.onnx").exists()


SCRIPT = """
import sys
import polybake
steps = [{"step": "pool", "mode": "mean"}, {"step": "normalize"}]
for number, path in enumerate(sys.argv[1:]):
    polybake.bake(path, f"{number}.onnx", name="tiny", steps=steps)
"""


@pytest.mark.weekly
def test_same_bytes_from_any_process(tmp_path: Path) -> None:
    """Two processes with other hash seeds, locales, threads and folders write equal bytes."""
    xlmr = Path(__file__).parents[2] / "fixtures" / "xlmr"
    written = []
    for place, settings in (
        ("one", {"PYTHONHASHSEED": "1", "LC_ALL": "C", "OMP_NUM_THREADS": "1"}),
        ("two", {"PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "4"}),
    ):
        write_bert(tmp_path / place / "model")
        (tmp_path / place / "xlmr").mkdir()
        for file in xlmr.iterdir():
            (tmp_path / place / "xlmr" / file.name).write_bytes(file.read_bytes())
        subprocess.run(
            [sys.executable, "-c", SCRIPT, "model", "xlmr/model.onnx"],
            cwd=tmp_path / place,
            env=os.environ | settings | {"TZ": place, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=True,
        )
        written.append([(tmp_path / place / f"{n}.onnx").read_bytes() for n in range(2)])
    assert written[0] == written[1]
    assert written[0][0] != written[0][1]


@pytest.mark.weekly
@pytest.mark.minilm
def test_minilm(minilm: Path, tmp_path: Path) -> None:
    """MiniLM bakes by its own recipe, with as many weights as its checkpoint has."""
    source = open_source(minilm)
    steps = resolve(source.recipe, base=tmp_path, source=source)
    report = bake(source, steps, tmp_path / "out.onnx", name="all-minilm-l6-v2")
    assert report.manifest.contract.output.dimension == 384
    assert report.differences["steps"] < 1e-6
    names = [one.name for one in onnx.load(report.path).graph.initializer]
    assert sum(name.startswith(("embeddings.", "encoder.")) for name in names) == 101
    fused = {"Gelu": 6, "FusedMatMul": 6, "BiasGelu": 0, "SkipLayerNormalization": 0}
    assert fused_operators(report.path, tmp_path) == fused


def fused_operators(model: Path, scratch: Path) -> dict[str, int]:
    """What ONNX Runtime fuses by itself: one of each kind a layer, unless the graph hides it."""
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(scratch / "optimized.onnx")
    ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    found = [node.op_type for node in onnx.load(scratch / "optimized.onnx").graph.node]
    return {
        name: found.count(name)
        for name in ("Gelu", "FusedMatMul", "BiasGelu", "SkipLayerNormalization")
    }


ROUTE = Route(
    routes={"query": (Normalize(),), "document": (Scale(factor=2.0),)},
    default="document",
    prompts={"passage": "document"},
)


def test_is_fed_beside_the_prompt_s_length(tmp_path: Path) -> None:
    """A model may take a prompt's length and its route, and every route is proven."""
    pools: list[Step] = [Pool(mode="mean", include_prompt=False), ROUTE]
    source = open_source(write_bert(tmp_path / "model"))
    prompts = {"query": "query: ", "document": ""}
    report = bake(source, pools, tmp_path / "out.onnx", name="tiny", prompts=prompts)
    head = read_head(report.path)
    values = {one.name: one.values for one in head.manifest.contract.inputs if one.values}
    assert values == {
        "prompt_length": {"": 0, "query": 3, "document": 0},
        "route": {"": 1, "query": 0, "document": 1},
    }
    assert {case.prompt for case in head.fixture.cases} == {None, "query", "document"}
    assert Embedder(report.path).self_check() < 1e-6


def test_routes_follow_an_export(tmp_path: Path) -> None:
    """An .onnx encoder may be continued by routes, at its own opset."""
    path = write_encoder(tmp_path / "model")
    steps: list[Step] = [Pool(mode="mean"), ROUTE]
    report = bake(open_source(path), steps, tmp_path / "out.onnx", name="tiny")
    assert report.manifest.opset == 12
    assert Embedder(report.path).self_check() < 1e-6


class Wrong(Scale):
    """A step whose NumPy form differs from its graph."""

    def formula(self, x: Floats) -> Floats:
        return 2 * super().formula(x)


class Neighbour(Pointwise):
    """A step that adds the first text of a batch to every one."""

    name = "neighbour"

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        return op.Add(x, op.Slice(x, [0], [1], [0]))

    def formula(self, x: Floats) -> Floats:
        return x + x[:1]


@pytest.mark.parametrize(
    ("step", "shown"),
    [(Wrong(factor=3.0), "in case prompt-1-query"), (Neighbour(), "each text alone, in a batch")],
)
def test_every_route_is_proven(step: Step, shown: str, tmp_path: Path) -> None:
    """A fault of a route that calls without a prompt never take stops the bake."""
    route = Route(routes={"query": (step,), "document": ()}, default="document")
    source = open_source(write_bert(tmp_path / "model"))
    with pytest.raises(CheckFailed, match=shown):
        bake(source, [Pool(mode="mean"), route], tmp_path / "out.onnx", name="tiny")
    assert not (tmp_path / "out.onnx").exists()
