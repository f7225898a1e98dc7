"""Remedies that are more than lines of a case: commands, numbers, and bakes of other files."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from models.folders.drawn import drawn_weights, write_drawn
from models.folders.tiny_folders import CONFIG, write_bert
from models.onnx.quantized_onnx import quantize_dynamic
from models.onnx.tiny_onnx import write_encoder
from polybake.baking.assemble.model_file import check_fits
from polybake.baking.bake_config import bake_config
from polybake.cli.main import app
from polybake.config import load_config
from remedies.followed import MEAN, bake, refused
from remedies.models import pooled

pytestmark = pytest.mark.slow

SIZE = CONFIG["hidden_size"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A BERT, and its folder the working folder."""
    monkeypatch.chdir(tmp_path)
    return write_bert(tmp_path / "model")


def polybake(*arguments: str) -> None:
    """Run a command that a remedy names."""
    app([*arguments], standalone_mode=False)


def test_values_are_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command's list has names that can be exposed."""
    with refused("assemble/expose.py: see all with", "called 'attention'; near are: "):
        bake(folder, steps=MEAN, expose=["attention"])
    bake(folder, steps=MEAN)
    capsys.readouterr()
    polybake("inspect", "--shapes", "tiny.onnx")
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    name = next(words[0] for words in shown if words[0].startswith("v_encoder."))
    bake(folder, steps=MEAN, expose=[name])


@pytest.mark.usefixtures("folder")
def test_a_config_is_written() -> None:
    """Init writes the file, and what is wrong in it is corrected."""
    path = Path("polybake.toml")
    with refused("config.py: write one with", "write one with: polybake init SOURCE"):
        load_config(path)
    polybake("init", "model", "--name", "tiny")
    good = path.read_text("utf-8")
    path.write_text(f"{good}[clients.cobol]\n", encoding="utf-8")
    with refused("config.py: unknown language", "cobol: unknown language; choose one of: python"):
        load_config(path)
    path.write_text(f"{good}[clients.python]\n", encoding="utf-8")
    load_config(path)
    path.write_text(f"{good}[clients.python\n", encoding="utf-8")
    with refused("config.py: correct that line", "is not TOML: .*at line .*; correct that line"):
        load_config(path)
    path.write_text(good, encoding="utf-8")
    polybake("bake")


@pytest.mark.usefixtures("folder")
def test_an_unknown_key_is_allowed_by_an_option() -> None:
    """Init refuses the model, and writes what allows the key."""
    pooled(Path("own"), voice_id=3)
    with refused("known_keys.py: or, if vectors are right without", "--set 'model.allow_unknown="):
        polybake("init", "own")
    option = ("--set", 'model.allow_unknown=["voice_id"]')
    polybake("init", "own", *option)
    bake_config(load_config(Path("polybake.toml")))
    polybake("bake", "own", *option)


def test_a_python_file_is_written(folder: Path) -> None:
    """The command writes a template, which bakes as it is."""
    steps = [*MEAN, {"step": "python", "file": "step.py"}]
    with refused("recipe/step_files.py: write one with", "polybake init --step FILE"):
        bake(folder, steps=steps)
    polybake("init", "--step", "step.py")
    bake(folder, steps=steps)


def test_fitted_arrays_stand_behind_the_steps_that_they_were_fitted_to(folder: Path) -> None:
    """The step is moved to where fit has it."""
    Path("corpus.txt").write_text("\n".join(f"{letter} boat" for letter in "abcdef"))
    bake(folder, steps=MEAN)
    polybake("fit", "tiny.onnx", "corpus.txt")
    mean = {"step": "subtract", "vector": "fitted/mean.npy"}
    with refused("recipe/step_files.py: was fitted to", "; move the step, or bake without"):
        bake(folder, steps=[*MEAN, {"step": "normalize"}, mean])
    bake(folder, steps=[*MEAN, mean, {"step": "normalize"}])


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("steps/quantize.py: write ranges.npy", {}, "int8 needs ranges; write ranges.npy"),
        (
            "steps/quantize.py: write them with",
            {"ranges": "three.npy"},
            r"found shape \[3, 12\]; write them with: polybake fit --ranges",
        ),
    ],
)
def test_fit_writes_ranges(folder: Path, name: str, wrong: dict[str, str], message: str) -> None:
    """The command's file is one that the step takes."""
    np.save("three.npy", np.ones((3, SIZE), np.float32))
    Path("corpus.txt").write_text("\n".join(f"{letter} boat" for letter in "abcdef"))
    with refused(name, message):
        bake(folder, steps=[*MEAN, {"step": "quantize", "precision": "int8", **wrong}])
    bake(folder, steps=MEAN)
    polybake("fit", "tiny.onnx", "corpus.txt", "--ranges")
    ranges = {"precision": "int8", "ranges": "fitted/ranges.npy"}
    bake(folder, steps=[*MEAN, {"step": "quantize", **ranges}])


def test_files_lie_within_the_folder(tmp_path: Path) -> None:
    """A link's target is put there."""
    folder = write_bert(tmp_path / "model")
    (folder / "model.safetensors").rename(tmp_path / "weights")
    (folder / "model.safetensors").symlink_to(tmp_path / "weights")
    with refused("model_folder.py: links to", "; put the file itself into the folder"):
        bake(folder, steps=MEAN)
    (folder / "model.safetensors").unlink()
    (tmp_path / "weights").rename(folder / "model.safetensors")
    bake(folder, steps=MEAN)


def test_a_published_model_without_its_layer(tmp_path: Path) -> None:
    """Its steps are listed, with the layer's weights."""
    name = "models--sentence-transformers--distiluse-base-multilingual-cased-v2"
    folder = write_bert(tmp_path / name / "snapshots" / ("a" * 40))
    with refused("tasks/embed.py: are not here", "weights of dense are not here; .*, or list the"):
        bake(folder)
    np.save(folder.parent / "weight.npy", np.ones((5, SIZE), np.float32))
    bake(folder, steps=[*MEAN, {"step": "dense", "weight": "weight.npy"}])


def test_weights_that_lie_beside_it(tmp_path: Path) -> None:
    """They are put there, too."""
    options = {"save_as_external_data": True, "location": "weights.bin", "size_threshold": 0}
    file = write_encoder(tmp_path / "model", **options)
    weights = (file.parent / "weights.bin").rename(tmp_path / "weights.bin")
    with refused("external_data.py: download it too", "lies in 'weights.bin', which is not beside"):
        bake(file, steps=MEAN)
    weights.rename(file.parent / "weights.bin")
    bake(file, steps=MEAN)


def test_what_is_quantized_dynamically(tmp_path: Path) -> None:
    """The float32 file is given."""
    folder = write_bert(tmp_path / "model")
    exact, normalize = folder / "exact.onnx", [{"step": "normalize"}]
    bake(folder, steps=MEAN, output="model/exact.onnx")
    file = quantize_dynamic(exact, folder / "quantized.onnx")
    with refused("onnx/file.py: was quantized dynamically in", "give the float32 file that it was"):
        bake(file, steps=normalize)
    bake(exact, steps=normalize)
    bake(exact, steps=normalize, precision="int8")


def test_what_is_baked_already(tmp_path: Path) -> None:
    """Its source is baked."""
    folder = write_bert(tmp_path / "model")
    tanh = {"step": "quantize", "precision": "int8", "function": "tanh"}
    bake(folder, steps=[*MEAN, tanh], output="model/tiny.onnx")
    with refused("signature.py: bake its source", "already; bake its source, with other steps"):
        bake(folder / "tiny.onnx", steps=MEAN, output="other.onnx")
    bake(folder, steps=[*MEAN, {"step": "normalize"}], output="other.onnx")


def test_what_is_too_large(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its weights lie beside it."""
    monkeypatch.setattr("polybake.baking.bake.check_fits", partial(check_fits, largest=9000))
    with refused("assemble/model_file.py: would have", r'9000; set weights = "beside" .*\[model\]'):
        bake(folder, steps=MEAN)
    bake(folder, steps=MEAN, weights="beside")


def test_float16_does_not_hold_all(tmp_path: Path) -> None:
    """What is beyond its range stays float32."""
    weights = drawn_weights("bert")
    name = "encoder.layer.1.intermediate.dense.weight"
    folder = write_drawn(tmp_path / "model", "bert", {name: weights[name] * 50000})
    with refused("quantization/float16.py: for a golden text", 'precision = "float32" in'):
        bake(folder, steps=MEAN, precision="float16")
    bake(folder, steps=MEAN, precision="float32")
    wide = weights[name].copy()
    wide[3, 4] = 7e4
    write_drawn(folder, "bert", {name: wide})
    with refused("graph/storage.py: at most", 'storage = "checkpoint" and precision = "fl'):
        bake(folder, steps=MEAN, storage="float16")
    bake(folder, steps=MEAN, storage="checkpoint", precision="float32")


def test_texts_are_utf_8(folder: Path) -> None:
    """The file of calibration is written again."""
    Path("texts.txt").write_bytes("Müller\n".encode("latin-1"))
    with refused("golden/texts.py: give a UTF-8 file", "texts.txt: .*; give a UTF-8 file"):
        bake(folder, steps=MEAN, precision="int8", calibration="texts.txt")
    Path("texts.txt").write_text("Müller\n", encoding="utf-8")
    bake(folder, steps=MEAN, precision="int8", calibration="texts.txt")


def test_a_folder_s_name_is_no_repository(folder: Path) -> None:
    """Its absolute path is given."""
    renamed = folder.rename(folder.with_name("hub:tiny"))
    with refused(
        "hub_reference.py: names no repository", "folder of this name is .* absolute path"
    ):
        bake(Path("hub:tiny"), steps=MEAN)
    bake(renamed, steps=MEAN)
