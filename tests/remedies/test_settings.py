"""What the other settings of polybake.toml are refused for."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.files.task_models import write_labelled
from models.folders.drawn import drawn_weights, write_drawn
from models.folders.messages import write_messages
from models.folders.tiny_folders import change_json, write_bert, write_two_encoders
from models.onnx.tiny_onnx import write_encoder
from polybake.baking.assemble.size import check_fits
from polybake.cli.main import app
from polybake.config import load_config
from remedies.followed import MEAN, bake, refused

TWO = {"query": [{"step": "pool", "mode": "cls"}], "document": MEAN}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A BERT, and its folder the working folder."""
    monkeypatch.chdir(tmp_path)
    return write_bert(tmp_path / "model")


def routed(**prompts: str) -> dict[str, Any]:
    """Two routes, and those of prompts."""
    return {"step": "route", "routes": TWO, "default": "document", "prompts": prompts}


@pytest.mark.parametrize(
    ("name", "wrong", "message", "rights"),
    [
        (
            "assemble/expose.py: is an input",
            {"expose": ["input_ids"]},
            "'input_ids' is an input, .*; leave it out",
            [{}],
        ),
        (
            "assemble/expose.py: already; leave it out",
            {"expose": ["pool"]},
            "'pool' is the output 'sentence_embedding' already; leave it out",
            [{}],
        ),
        (
            "assemble/expose.py: name one by its place",
            {"expose": ["normalize"], "steps": [*MEAN, *[{"step": "normalize"}] * 3]},
            "3 steps are called 'normalize'; name one by its place: steps.1, steps.2",
            [{"expose": ["steps.1"], "steps": [*MEAN, *[{"step": "normalize"}] * 3]}],
        ),
        (
            "assemble/prompts.py: has the empty name",
            {"prompts": {"": "query: "}},
            "'query: ' has the empty name, .*; name it",
            [{"prompts": {"query": "query: "}}],
        ),
        (
            "assemble/prompts.py: shorten it",
            {"prompts": {"query": "a" * 32_768}},
            "'query' has 32768 characters, expected at most 32768 with its name; shorten it",
            [{"prompts": {"query": "a" * 100}}],
        ),
        (
            "assemble/prompts.py: choose one of",
            {"prompts": {"query": "query: "}, "default_prompt": "title"},
            "default prompt 'title' is unknown; choose one of: query",
            [{"prompts": {"query": "query: "}, "default_prompt": "query"}],
        ),
        (
            "assemble/prompts.py: make them one",
            {"steps": [routed(q="query")], "prompts": {"q": "q: "}, "default_prompt": "q"},
            "'q' takes route 'query', and the default route is 'document'; make them one, or name",
            [
                {"steps": [routed(q="document")], "prompts": {"q": "q: "}, "default_prompt": "q"},
                {"steps": [routed(q="query")], "prompts": {"q": "q: "}},
            ],
        ),
        (
            "assemble/lower.py: makes integers",
            {"storage": "float16-table", "precision": "int8"},
            'precision = "int8" makes integers of the token table; say storage = "checkpoint"',
            [{"storage": "checkpoint", "precision": "int8"}],
        ),
        (
            "assemble/lower.py: the graph has no float32 table",
            {"storage": "float16-table"},
            'no float32 table of 68 rows .*; say storage = "float16", or "checkpoint"',
            [{"storage": "float16"}, {"storage": "checkpoint"}],
        ),
        (
            "sources/__init__.py: is no .onnx file",
            {"dequantize": True},
            "model: is no .onnx file; leave out dequantize",
            [{}],
        ),
        (
            "sources/checkpoint.py: is no decoder",
            {"attention": "causal"},
            'leave out attention = "causal"',
            [{}],
        ),
        (
            "encoders/architecture.py: nor any other",
            {"adapter": "retrieval"},
            'has no adapter "retrieval", nor any other; leave adapter out',
            [{}],
        ),
        (
            "known_keys.py: leave it out",
            {"allow_unknown": ["rope_scaling"]},
            "no file of the model has an unknown key 'rope_scaling'; leave it out",
            [{}],
        ),
    ],
)
def test_a_setting_is_changed(
    folder: Path, name: str, wrong: dict[str, Any], message: str, rights: list[dict[str, Any]]
) -> None:
    """Each way that the remedy names bakes."""
    with refused(name, message):
        bake(folder, **{"steps": MEAN, **wrong})
    for right in rights:
        bake(folder, **{"steps": MEAN, **right})


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


def test_the_prompts_of_a_template_stay(tmp_path: Path) -> None:
    """They are changed in the model's own file."""
    folder = write_messages(tmp_path / "model", prompts={"query": "find", "document": ""})
    with refused("assemble/prompts.py: chat template writes them", "leave prompts out, and"):
        bake(folder, prompts={"query": "seek"})
    settings = folder / "config_sentence_transformers.json"
    change_json(settings, prompts={"query": "seek", "document": ""})
    bake(folder)


def test_routes_of_encoders_are_kept(tmp_path: Path) -> None:
    """Each encoder has its steps."""
    folder = write_two_encoders(tmp_path / "model")
    with refused("assemble/fold.py: list one route step", "routes query, document; list one"):
        bake(folder, steps=MEAN)
    dense = {"step": "truncate", "dimension": 8}
    routes = {"query": MEAN, "document": [*MEAN, dense]}
    bake(folder, steps=[{"step": "route", "routes": routes, "default": "document"}])


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        (
            "sources/__init__.py: is exported already",
            {"encoder": "torch"},
            "exported already; leave out encoder 'torch', or give the model's folder",
        ),
        (
            "sources/__init__.py: is no causal language",
            {"rerank": {"prompt": ["{query}", "{document}"], "true": "yes"}},
            r"model.onnx is no causal language model; .*; leave \[rerank\] out",
        ),
        (
            "sources/onnx/dynamic.py: leave out dequantize",
            {"dequantize": True},
            "holds nothing that was quantized dynamically; leave out dequantize",
        ),
    ],
)
def test_an_onnx_file_has_no_such_setting(
    tmp_path: Path, name: str, wrong: dict[str, Any], message: str
) -> None:
    """Without it, the file bakes."""
    file = write_encoder(tmp_path / "model")
    with refused(name, message):
        bake(file, steps=MEAN, **wrong)
    bake(file, steps=MEAN)


def test_a_config_is_written(folder: Path) -> None:
    """init writes the file, and what is wrong in it is corrected."""
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


def test_a_config_is_too_large(tmp_path: Path) -> None:
    """The model's own labels need not stand in it."""
    folder = write_labelled(tmp_path / "model", "no", "yes")
    with refused("config.py: has more than", "65536 bytes; leave out what .*, such as its labels"):
        bake(folder, labels=["a" * 40_000, "b" * 40_000])
    bake(folder)


def test_a_folder_s_name_is_no_repository(folder: Path) -> None:
    """Its absolute path is given."""
    renamed = folder.rename(folder.with_name("hub:tiny"))
    with refused(
        "hub_reference.py: names no repository", "folder of this name is .* absolute path"
    ):
        bake(Path("hub:tiny"), steps=MEAN)
    bake(renamed, steps=MEAN)


def test_an_output_that_cannot_be_written(folder: Path) -> None:
    """Another place is chosen."""
    Path("file").write_text("mine")
    with refused("atomic.py: {path}: cannot be written", "choose another place"):
        bake(folder, steps=MEAN, output="file/tiny.onnx")
    bake(folder, steps=MEAN, output="other/tiny.onnx")
