"""What the other settings of polybake.toml are refused for."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from models.folders.drawn import drawn_weights, write_drawn
from models.folders.tiny_folders import write_bert
from polybake.baking.assemble.size import check_fits
from polybake.baking.bake_config import bake_config
from polybake.cli.main import app
from polybake.config import load_config
from remedies.followed import MEAN, bake, refused
from remedies.models import pooled

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A BERT, and its folder the working folder."""
    monkeypatch.chdir(tmp_path)
    return write_bert(tmp_path / "model")


def test_values_are_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command's list has names that can be exposed."""
    with refused("assemble/expose.py: see all with", "called 'attention'; near are: "):
        bake(folder, steps=MEAN, expose=["attention"])
    bake(folder, steps=MEAN)
    capsys.readouterr()
    app(["inspect", "--shapes", "tiny.onnx"], standalone_mode=False)
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    name = next(words[0] for words in shown if "attention.self" in words[0])
    bake(folder, steps=MEAN, expose=[name])


def test_what_is_there_is_removed(folder: Path) -> None:
    """A file of another's goes, or the output does."""
    Path("tiny.onnx").write_text("mine")
    with refused("assemble/place.py: is no file that polybake wrote", "another --output, or"):
        bake(folder, steps=MEAN)
    bake(folder, steps=MEAN, output="other.onnx")
    Path("tiny.onnx").unlink()
    bake(folder, steps=MEAN)
    Path("tiny.weights").write_text("mine")
    with refused("assemble/place.py: holds no weights", "another --output, or remove it"):
        bake(folder, steps=MEAN, weights="beside")
    bake(folder, steps=MEAN, weights="beside", output="other.onnx")
    Path("tiny.weights").unlink()
    bake(folder, steps=MEAN, weights="beside")


def test_what_is_too_large(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its weights lie beside it."""
    monkeypatch.setattr("polybake.baking.bake.check_fits", partial(check_fits, largest=9000))
    with refused("assemble/size.py: would have", r'9000; set weights = "beside" .*\[model\]'):
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


@pytest.mark.usefixtures("folder")
def test_a_config_is_written() -> None:
    """Init writes the file, and what is wrong in it is corrected."""
    path = Path("polybake.toml")
    with refused("config.py: write one with", "write one with: polybake init SOURCE"):
        load_config(path)
    app(["init", "model", "--name", "tiny"], standalone_mode=False)
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
    app(["bake"], standalone_mode=False)


def test_a_folder_s_name_is_no_repository(folder: Path) -> None:
    """Its absolute path is given."""
    renamed = folder.rename(folder.with_name("hub:tiny"))
    with refused(
        "hub_reference.py: names no repository", "folder of this name is .* absolute path"
    ):
        bake(Path("hub:tiny"), steps=MEAN)
    bake(renamed, steps=MEAN)


@pytest.mark.usefixtures("folder")
def test_an_unknown_key_is_allowed_by_an_option() -> None:
    """Init refuses the model, and writes what allows the key."""
    pooled(Path("own"), voice_id=3)
    with refused("known_keys.py: or, if vectors are right without", "--allow-unknown KEY for each"):
        app(["init", "own"], standalone_mode=False)
    app(["init", "own", "--allow-unknown", "voice_id"], standalone_mode=False)
    bake_config(load_config(Path("polybake.toml")))
    app(["bake", "own", "--allow-unknown", "voice_id"], standalone_mode=False)
