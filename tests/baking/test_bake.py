"""A source becomes a proven model file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest

from models.folders.tiny_folders import (
    CONFIG,
    bert_weights,
    write_bert,
    write_json,
    write_sentence_transformers,
)
from models.onnx.tiny_onnx import BODY, HIDDEN, INPUTS, POOLED, encoder, write_encoder
from polybake.baking.bake import BakeReport, bake
from polybake.baking.golden.texts import CaseText
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.baking.steps.step import Pointwise
from polybake.base.modelfile.container import read_head, tail_digest
from polybake.base.modelfile.fixture import decode_vectors
from polybake.errors import CheckFailed, InputError
from polybake.runtime.session import open_session
from polybake.steps import Normalize, Pool, Step

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
    assert tail_digest(report.path, head.tail_offset) == head.digests.tail
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


def test_every_step_of_a_folder(tmp_path: Path) -> None:
    """A recipe of a folder with Dense, and a subtraction of one's own, are baked in order."""
    folder = write_sentence_transformers(
        tmp_path / "model",
        ("Pooling", {"pooling_mode": "mean"}),
        ("Dense", {"activation_function": "torch.nn.Identity", "bias": False}),
    )
    weight = np.random.default_rng(5).normal(size=(5, 12)).astype(np.float32)
    from safetensors.numpy import save_file

    save_file({"linear.weight": weight}, folder / "2_Dense" / "model.safetensors")
    vector = np.linspace(-1, 1, 5, dtype=np.float32)
    np.save(tmp_path / "mean.npy", vector)
    source = open_source(folder)
    specs = [*source.recipe, {"step": "subtract", "vector": "mean.npy"}]
    steps = resolve(specs, base=tmp_path, source=source)
    report = bake(source, steps, tmp_path / "out.onnx", name="tiny")
    assert report.manifest.steps[1:] == (
        "dense(weight=5x12, activation=identity)",
        "subtract(vector=5)",
    )
    plain = bake_tiny(folder, tmp_path / "plain.onnx", [Pool(mode="mean")])
    pairs = zip(
        read_head(report.path).fixture.cases, read_head(plain.path).fixture.cases, strict=True
    )
    for found, pooled in pairs:
        expected = decode_vectors(pooled.embeddings) @ weight.T - vector
        assert decode_vectors(found.embeddings) == pytest.approx(expected, abs=1e-5)


def test_prompts_and_own_cases(tmp_path: Path) -> None:
    """Prompts replace the source's, the default one applies, and own cases come last."""
    folder = write_bert(tmp_path / "model")
    own = CaseText("mine", "It is mine.", ("user",), None, ("the river",))
    report = bake_tiny(
        folder,
        tmp_path / "out.onnx",
        prompts={"query": "query: "},
        default_prompt="query",
        extra_cases=[own],
    )
    assert report.manifest.contract.prompts == {"query": "query: "}
    assert report.manifest.contract.default_prompt == "query"
    mine = read_head(report.path).fixture.cases[-1]
    assert (mine.id, mine.input_ids) == ("mine", ((2, 11, 13, 5, 7, 3),))


def test_source_prompts_are_kept(tmp_path: Path) -> None:
    """A user who gives no prompts gets the source's, with its default."""
    folder = write_sentence_transformers(tmp_path / "m", ("Pooling", {"pooling_mode": "mean"}))
    prompts = {"passage": "passage: "}
    config = {"prompts": prompts, "default_prompt_name": "passage"}
    write_json(folder / "config_sentence_transformers.json", config)
    contract = bake_tiny(folder, tmp_path / "out.onnx").manifest.contract
    assert (contract.prompts, contract.default_prompt) == (prompts, "passage")


def test_a_refused_bake_leaves_what_was_there(tmp_path: Path) -> None:
    """Wrong input is one line, and what stood at the output's place stays."""
    folder, out = write_bert(tmp_path / "model"), tmp_path / "out.onnx"
    bake_tiny(folder, out)
    before = out.read_bytes()
    with pytest.raises(InputError, match=r"steps: they end in \[batch,sequence,12\]") as raised:
        bake_tiny(folder, out, [])
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


class Doubled(Pointwise):
    """A step whose two forms differ."""

    name = "doubled"

    def onnx(self, op, x):
        return op.Mul(x, 2.0)

    def formula(self, x):
        return x * 2.0001


def test_fails_when_a_step_is_not_its_formula(tmp_path: Path) -> None:
    """A graph that computes something else than the NumPy formula is never written."""
    folder = write_bert(tmp_path / "model")
    with pytest.raises(CheckFailed, match=r"differs from its source in case .* by .*nothing was"):
        bake_tiny(folder, tmp_path / "out.onnx", [Pool(mode="mean"), Doubled()])
    assert not (tmp_path / "out.onnx").exists()


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
from pathlib import Path
from polybake.baking.bake import bake
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
specs = [{"step": "pool", "mode": "mean"}, {"step": "normalize"}]
for number, path in enumerate(sys.argv[1:]):
    source = open_source(Path(path))
    steps = resolve(specs, base=Path("."), source=source)
    bake(source, steps, Path(f"{number}.onnx"), name="tiny")
"""


def test_same_bytes_from_any_process(tmp_path: Path) -> None:
    """Two processes with other hash seeds, locales, threads and folders write equal bytes."""
    xlmr = Path(__file__).parents[1] / "data" / "xlmr"
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
