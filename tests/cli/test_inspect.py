"""polybake inspect: contents, shapes and the graph, from the command line."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from models.files.every_feed import write_every_feed_model
from models.folders.tiny_folders import write_bert, write_sentence_transformers
from support.processes.commandline import polybake, run
from support.processes.signals import posix

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model file, baked with an output for debugging."""
    folder = tmp_path_factory.mktemp("project")
    model = write_bert(folder / "model")
    (folder / "polybake.toml").write_text(
        f'[model]\nname = "tiny"\nsource = "{model.name}"\noutput = "out.onnx"\n'
        'expose = ["pool"]\n'
        '[[steps]]\nstep = "pool"\nmode = "mean"\n[[steps]]\nstep = "normalize"\n'
    )
    polybake("bake", cwd=folder)
    return folder


def test_shapes(project: Path) -> None:
    """--shapes prints a line for each value, or the same as JSON."""
    lines = polybake("inspect", "out.onnx", "--shapes", cwd=project).splitlines()
    assert lines[0] == "inputs"
    assert lines[1].split() == ["input_ids", "int64", "[batch,", "sequence]"]
    assert "encoder/layer.0/attention" in lines
    facts = json.loads(polybake("inspect", "out.onnx", "--shapes", "--json", cwd=project))
    assert [value["name"] for value in facts["outputs"]] == ["sentence_embedding", "pool"]
    assert [one["namespace"] for one in facts["nodes"][-2:]] == ["steps.0", "steps.1"]


def test_the_file_decides_outputs(project: Path) -> None:
    """polybake.toml's keys are baked; options of the command add to or replace them."""
    shown = polybake("inspect", "out.onnx", cwd=project)
    assert "exposed         pool" in shown
    polybake(
        "bake", "--output", "other.onnx", "--set", 'model.expose=["normalize"]', cwd=project, code=2
    )
    options = ("--set", 'model.expose=["steps.0", "token_embeddings"]')
    polybake("bake", "--output", "other.onnx", *options, cwd=project)
    facts = json.loads(polybake("inspect", "other.onnx", "--json", cwd=project))
    assert facts["exposed"] == ["steps.0", "token_embeddings"]


def test_parts_come_out_as_files(project: Path, tmp_path: Path) -> None:
    """A model file shows what a client would do, and --json is its manifest."""
    printed = polybake("inspect", "out.onnx", cwd=project)
    assert "input_ids (input_ids), attention_mask (attention_mask)" in printed
    assert "at most 32 tokens, padded on the right with 0" in printed
    polybake("inspect", project / "out.onnx", "--extract", "parts", cwd=tmp_path)
    manifest = json.loads((tmp_path / "parts/manifest.json").read_text())
    assert manifest == json.loads(polybake("inspect", "out.onnx", "--json", cwd=project))
    tokenizer = json.loads((tmp_path / "parts/tokenizer.json").read_text())
    assert tokenizer["truncation"]["max_length"] == 32
    assert tokenizer["padding"] is None


@pytest.mark.weekly
@posix
def test_a_graph_in_a_browser(project: Path) -> None:
    """An address is printed, after what else is asked for; the command ends when it is told to."""
    pytest.importorskip("netron", reason='pip install ".[view]"')
    command = [sys.executable, "-m", "polybake.cli.main", "inspect", "out.onnx", "--view"]
    for signals in (signal.SIGINT, signal.SIGTERM):
        with subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            line = process.stdout.readline()
            process.send_signal(signals)
            assert process.wait(timeout=30) == 128 + signals
        assert re.fullmatch(r"out\.onnx: open http://127\.0\.0\.1:\d+ in a browser, .*\n", line)


def test_a_source_is_described_for_people(tmp_path: Path) -> None:
    """Steps as the manifest has them and no Python; --json has the data."""
    folder = write_sentence_transformers(
        tmp_path / "model", ("Pooling", {"pooling_mode": "cls"}), ("Normalize", {})
    )
    prompts = {"prompts": {"query": "query: ", "evil\x1b[2J": "\x07"}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    shown = polybake("inspect", "model", cwd=tmp_path)
    assert "steps           pool(mode=cls) -> normalize()\n" in shown
    assert 'query "query: "' in shown
    assert "default prompt  none\n" in shown
    assert not re.search(r"[\[\]{}']|None", shown.replace(r"evil\x1b[2J", ""))
    facts = json.loads(polybake("inspect", "model", "--json", cwd=tmp_path))
    assert facts["steps"] == [{"step": "pool", "mode": "cls"}, {"step": "normalize"}]
    assert facts["prompts"]["query"] == "query: "
    assert facts["default_prompt"] is None


def test_no_name_steers_the_terminal(tmp_path: Path) -> None:
    """Prompts are anyone's: their names and texts are shown escaped, of a source and of a bake."""
    model = write_every_feed_model(tmp_path / "m.onnx", prompts={"evil\x1b[2J": "a\nb\x07"})
    shown = polybake("inspect", model, cwd=tmp_path)
    assert r'prompts         evil\x1b[2J "a\nb\x07"' in shown
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", shown)


def test_what_a_terminal_cannot_show_is_escaped(tmp_path: Path) -> None:
    """The standard output of Windows has few characters, and the others end no command."""
    model = write_every_feed_model(tmp_path / "m.onnx", prompts={"query": "\u67e5"})
    done = run("inspect", model, cwd=tmp_path, PYTHONIOENCODING="cp1252")
    assert (done.returncode, done.stderr) == (0, "")
    assert r'query "\u67e5"' in done.stdout
