"""Wrong input to every verb is one line with the remedy, and nothing is written."""

from __future__ import annotations

import json
import shlex
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.files.weights_beside import move_weights
from models.folders.tiny_folders import write_bert
from support.clients.plain_client import write_plain_client
from support.processes.commandline import polybake, run, without
from support.samples.weekly import weekly_but
from support.servers.served import key_file

pytestmark = pytest.mark.slow

#: What is told, by the command. MODEL is a model file, PAIRS one that takes pairs of texts.
WRONG = {
    "nonsense": "No such command 'nonsense'",
    "bake --nonsense": "No such option: --nonsense",
    "bake": "polybake.toml: cannot be read (No such file or directory); write one with",
    "bake no/such/folder": "no/such/folder: no such file or folder; give a polybake",
    "bake bert --name Über": "'Über' cannot become a package name",
    "bake huge.toml": "huge.toml: has more than 65536 bytes; leave out what",
    "init": "give a source, ",
    "init no/such": "no/such",
    "init bert --step other.py": "give a source, ",
    "init bert --schema other.json": "give a source, for its polybake.toml, or --step FILE",
    "init none --language rust-lang": "language 'rust-lang': choose one of: python, node",
    "init --step clip.py": "clip.py: exists already; edit it, or overwrite it with --force",
    "inspect no.onnx": "no.onnx",
    "inspect bert --extract x": "is not a baked model file",
    "inspect bert --shapes": "bert: cannot be read (",
    "inspect texts.txt --shapes": "texts.txt: is not a valid ONNX file",
    "inspect no.onnx --shapes": "no.onnx: cannot be read (No such file or directory)",
    "check no.onnx": "no.onnx: cannot be read (No such file or directory); give the",
    "check sealed.onnx": "the tokenizer cannot be read by tokenizers",
    "generate no.onnx": "no.onnx: cannot be read",
    "generate no.json": "no.json: cannot be read",
    "verify no.onnx": "no.onnx: cannot be read",
    "verify MODEL --clients right --timeout nan": "timeout nan",
    "verify MODEL --clients right --language cobol": "'cobol': there is no client of it; choose",
    "verify MODEL --html MODEL": "is the file of the model; choose another",
    "verify MODEL --html a.html --markdown ./a.html": "--markdown a.html: is the file of --html",
    "fixtures no.onnx": "no.onnx: cannot be read",
    "fit no.onnx no.txt": "no.onnx: cannot be read",
    "fit MODEL texts.txt --whiten 8": "--whiten 8: 5 texts of 7 elements give 1 to 4 components",
    "export triton no.onnx -o out": "no.onnx: cannot be read",
    "export tflite no.onnx -o out": "'tflite' is not one of 'triton'",
    "card no.onnx -o out": "no.onnx: cannot be read",
    "bench texts.txt": "texts.txt: has no polybake.digest; write the file with",
    "bench MODEL no.onnx": "no.onnx: ",
    "bench MODEL --threads 100000": "threads is 100000; expected 1 to ",
    "bench MODEL --rounds 0": "greater than or equal to 1",
    "bench MODEL --texts empty.txt": "empty.txt: has no texts; give a file with one text",
    "bench MODEL --texts no.txt": "no.txt: cannot be read (no such file)",
    "bench MODEL --clients new": "new: no folder in it has a harness.json; write clients",
    "bench MODEL --clients other": "contract.max_length is 16, this client is for 8; gen",
    "bench MODEL --output texts.txt": "texts.txt: is no folder; choose another place",
    "diff MODEL MODEL --prompt query": "is the prompt of own texts; give them with --texts",
    "diff MODEL MODEL --texts none.txt": "none.txt: cannot be read (no such file)",
    "diff MODEL MODEL --texts texts.txt --prompt x": "'x'; choose one of: query, document",
    "diff MODEL MODEL --plot a.gif": "a.gif: a plot is a .svg, .png or .pdf file; give it such a",
    "diff PAIRS PAIRS --texts texts.txt": "takes pairs of texts; leave --texts out",
    "diagnose MODEL": "give either --vectors FILE or --harness COMMAND",
    "diagnose MODEL --vectors none.npy --texts texts.txt": "none.npy: cannot be read",
    "diagnose MODEL --vectors v.npy": "holds no texts; give them by --texts FILE",
    "diagnose MODEL --vectors v.npy --texts texts.txt --prompt no": "unknown prompt 'no'",
    "diagnose MODEL --vectors v.npy --query --document": "exclude each other; give one of them",
    "embed no.onnx - -o out.npy": "no.onnx: cannot be read",
    "embed no.onnx no.txt -o out.npy": "no.txt: cannot be read",
    "embed texts.txt texts.txt -o a.npy": "texts.txt: has no polybake.digest; write the file",
    "embed MODEL no.txt -o a.npy": "no.txt: cannot be read (no such file); give a UTF-8 file",
    "embed MODEL texts.txt -o a.txt": "a.txt: vectors are not written to such a file; choose",
    "embed MODEL texts.txt -o kept.npy": "kept.npy: exists already; choose another output, or o",
    "embed MODEL texts.txt -o f.npy --force": "f.npy: is a folder; choose another",
    "embed MODEL texts.txt": "Missing option '--output'",
    "embed MODEL bad.txt -o a.npy": "bad.txt: line 2 is not valid Unicode",
    "embed MODEL texts.jsonl -o a.npy": "texts.jsonl: line 1: has no 'text'; choose one of: id,",
    "embed MODEL null.jsonl -o a.npy": "null.jsonl: line 2: 'text' is null; expected a text; fi",
    "embed MODEL null.parquet -o a.npy": "null.parquet: row 2: 'text' is null; expected a text",
    "embed MODEL null.parquet -o a.npy --column x": "has no column 'x'; choose one of: tex",
    "embed MODEL done.jsonl -o a.jsonl": "done.jsonl: has a column 'embedding' already; rename",
    "embed MODEL mixed.jsonl -o a.parquet": "mixed.jsonl: line 1 to 2: a key has values that on",
    "embed MODEL texts.txt -o a.npy --prompt title": "unknown prompt 'title'; choose one",
    "embed MODEL texts.txt -o a.npy --prompt ''": "unknown prompt ''; choose one",
    "embed MODEL texts.txt -o a.npy --query --document": "exclude each other; give one of",
    "embed MODEL texts.txt -o a.npy --threads 0": "--threads 0: expected 1 to",
    "embed MODEL texts.txt -o a.npy --device tpu": "unknown device 'tpu'; choose one of",
    "embed MODEL texts.txt -o kept.npy/a.npy": "kept.npy/a.npy.parts: cannot be made (",
    "serve none.onnx": "none.onnx",
    "serve MODEL --api-key-file none": "none: cannot be read",
    "serve MODEL --api-key-file empty.txt": "empty.txt: holds no key; write one",
    "serve MODEL --api-key-file accented": "key 2 holds a blank or what is not ASCII",
    "serve MODEL MODEL": "two models have one name",
    "serve MODEL --matryoshka no": "--matryoshka no: no model of this name",
    "serve MODEL --device tpu": "unknown device 'tpu'",
}


@pytest.fixture(scope="module")
def project(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of texts and vectors that are right and wrong, and with clients."""
    folder = tmp_path_factory.mktemp("project")
    for name, content in {
        "texts.txt": "a\nb c\nd\ne\nf\n",
        "empty.txt": "",
        "texts.jsonl": '{"id": 1, "body": "a"}\n',
        "null.jsonl": '{"text": "a"}\n{"text": null}\n',
        "done.jsonl": '{"text": "a", "embedding": [1]}\n',
        "mixed.jsonl": '{"text": "a", "n": 1}\n{"text": "a", "n": "x"}\n',
        "kept.npy": "kept",
        "clip.py": "mine",
        "huge.toml": "a." * 100_000 + "a = 1",  # this dotted key would take minutes
    }.items():
        (folder / name).write_text(content)
    (folder / "bad.txt").write_bytes(b"fine\nno\xff\n")
    (folder / "f.npy").mkdir()
    key_file(folder / "accented", "one", "cl\u00e9")
    np.save(folder / "v.npy", np.zeros((5, 7), np.float32))
    write_bert(folder / "bert")
    write_plain_client(folder / "right" / "plain")
    write_plain_client(folder / "other" / "plain", "other-contract")
    write_sealed(every_feed, folder / "sealed.onnx")
    return folder


def write_sealed(model: Path, path: Path) -> None:
    """Write a copy whose tokenizer has its right digest and cannot be read."""
    from polybake.base.modelfile.container import read_head, write

    head, tail = read_head(model), path.with_suffix(".tail")
    tail.write_bytes(model.read_bytes()[head.tail_offset :])
    tokenizer = json.dumps({**json.loads(head.tokenizer), "post_processor": []})
    write(path, tail, head.manifest, tokenizer, head.fixture)


def contents(folder: Path) -> dict[Path, bytes | bool]:
    return {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")}


@pytest.mark.parametrize("command", WRONG)
def test_it_is_named_and_nothing_is_written(
    command: str, project: Path, every_feed: Path, tiny_rerank: Path
) -> None:
    """The value and the remedy are named, and there is no traceback."""
    if "parquet" in command:
        parquet = pytest.importorskip("pyarrow.parquet")
        import pyarrow

        parquet.write_table(pyarrow.table({"text": ["a", None]}), project / "null.parquet")
    before = contents(project)
    places = {"MODEL": every_feed, "PAIRS": tiny_rerank}
    done = run(*(places.get(word, word) for word in shlex.split(command)), cwd=project)
    assert done.returncode == 2, done.stdout + done.stderr
    assert WRONG[command] in done.stderr
    assert "Traceback" not in done.stderr
    assert contents(project) == before


def test_a_port_that_is_taken(every_feed: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        shown = polybake("serve", every_feed, "--port", port, cwd=tmp_path, code=2)
    assert f"127.0.0.1:{port}: cannot be had" in shown


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a file without an end")
def test_a_device_is_no_file_of_settings(tmp_path: Path) -> None:
    """A link to a device without an end is refused instead of read for ever."""
    (tmp_path / "polybake.toml").symlink_to("/dev/zero")
    printed = polybake("bake", cwd=tmp_path, code=2)
    assert "polybake.toml: has more than 65536 bytes; leave out what" in printed


#: Verbs that take a model file of whatever weights.
TAKING: tuple[tuple[Any, ...], ...] = (
    ("check", "m.onnx"),
    ("card", "m.onnx", "-o", "card"),
    ("export", "triton", "m.onnx", "-o", "models"),
    ("serve", "m.onnx"),
)
READING: tuple[tuple[Any, ...], ...] = (
    ("inspect", "m.onnx"),
    ("diff", "m.onnx", "m.onnx"),
    ("embed", "m.onnx", "t.txt", "-o", "v.npy"),
    ("generate", "m.onnx", "--clients", "clients"),
    ("verify", "m.onnx", "--clients", "clients"),
    ("fixtures", "m.onnx", "--output", "golden"),
)


def test_a_changed_graph_is_not_passed_on(every_feed: Path, tmp_path: Path) -> None:
    """One flipped bit of the graph is found by its digest, before anything is written."""
    data = bytearray(every_feed.read_bytes())
    data[-1] ^= 1
    (tmp_path / "m.onnx").write_bytes(data)
    for command in TAKING:
        printed = polybake(*command, cwd=tmp_path, code=1)
        assert "does not match its digest; copy the file again" in printed, command
    assert [path.name for path in tmp_path.iterdir()] == ["m.onnx"]


def test_weights_that_are_not_beside_the_file(every_feed: Path, tmp_path: Path) -> None:
    move_weights(every_feed, tmp_path / "m.onnx")
    next(tmp_path.glob("m-*.weights")).unlink()
    (tmp_path / "t.txt").write_text("river\n")
    for command in (*TAKING, *READING):
        printed = polybake(*command, cwd=tmp_path, code=2)
        assert "it holds the model's weights, put it beside the model" in printed, command
    assert {path.name for path in tmp_path.iterdir()} == {"m.onnx", "t.txt"}


#: What is to be installed, by a command and the packages that are missing.
MISSING = {
    ("bake bert", "onnxruntime"): 'pip install ".[bake,cpu]"',
    ("fit MODEL texts.txt", "onnxruntime"): 'pip install ".[bake,cpu]"',
    ("inspect MODEL --shapes", "onnx"): "the package onnx; in a checkout of polybake: pip install",
    ("inspect MODEL --view", "netron"): 'pip install ".[bake,cpu,view]"',
    ("diff MODEL MODEL --plot a.svg", "matplotlib"): 'pip install ".[plots]"',
    ("bench MODEL --plot a.svg", "matplotlib"): 'pip install ".[plots]"',
    ("serve MODEL", "onnxruntime tokenizers fastapi"): 'pip install ".[serve]"',
    ("embed MODEL texts.txt -o a.parquet", "pyarrow"): '".[parquet]", or write .npy',
    ("embed MODEL null.parquet -o a.npy", "pyarrow"): '".[parquet]", or give a UTF-8 file',
}


@pytest.mark.parametrize(("command", "missing"), weekly_but(2, MISSING))
def test_a_missing_package_is_named(
    command: str, missing: str, project: Path, every_feed: Path
) -> None:
    """The extra that brings it is named, and the exit code is 3."""
    (project / "null.parquet").touch()
    words = (every_feed if word == "MODEL" else word for word in command.split())
    done = without(missing.split(), *words, cwd=project)
    assert (done.returncode, MISSING[command, missing] in done.stderr) == (3, True), done.stderr


@pytest.mark.parametrize(
    ("texts", "out"),
    weekly_but(1, [("texts.txt", "a.jsonl"), ("texts.txt", "a.npy"), ("t.jsonl", "b.jsonl")]),
)
def test_without_pyarrow_other_files_are_written(
    every_feed: Path, tmp_path: Path, texts: str, out: str
) -> None:
    (tmp_path / "texts.txt").write_text("a\n")
    (tmp_path / "t.jsonl").write_text('{"id": "007", "text": "a, b"}\n')
    done = without(["pyarrow"], "embed", every_feed, texts, "-o", out, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    if texts == "t.jsonl":
        assert json.loads((tmp_path / out).read_text())["id"] == "007"
