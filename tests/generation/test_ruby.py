"""The Ruby client: clean, packaged, installed elsewhere, and run."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from models.every_feed import write_every_feed_model
from polybake.modelfile.container import read_head
from support.hostile import CONTRACTS
from support.rendered import NAMES, OUTPUTS, run, write

pytestmark = pytest.mark.ruby


@pytest.fixture(scope="module")
def gems(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder for gems that all bundles of these tests share."""
    return str(tmp_path_factory.mktemp("gems"))


@pytest.fixture(scope="module")
def client(gems: str, every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client of the model that takes every feed, its gems installed."""
    folder = write("ruby", tmp_path_factory.mktemp("client"), every_feed)
    run("bundle", "install", "--quiet", cwd=folder, BUNDLE_PATH=gems)
    return folder


def own_tests(folder: Path, model: Path, gems: str) -> str:
    run("bundle", "install", "--quiet", "--local", cwd=folder, BUNDLE_PATH=gems)
    return run(
        "bundle", "exec", "rake", "test", cwd=folder, BUNDLE_PATH=gems, POLYBAKE_MODEL=str(model)
    )


def test_every_render_is_clean(client: Path, gems: str, every_feed: Path, tmp_path: Path) -> None:
    """Standard Ruby finds nothing to change, whatever the name, the prompts and the dtype."""
    for name in NAMES:
        for kind, contract in CONTRACTS.items():
            write("ruby", tmp_path / f"{name}-{kind}", every_feed, name=name, contract=contract)
    for kind, output in OUTPUTS.items():
        write("ruby", tmp_path / kind, every_feed, contract={"output": output})
    printed = run(
        *("bundle", "exec", "standardrb", "--no-fix", "--format", "json", tmp_path),
        cwd=client,
        BUNDLE_PATH=gems,
    )
    summary = json.loads(printed)["summary"]
    names = {"Gemfile", "Rakefile"}
    sources = [p for p in tmp_path.rglob("*") if p.name in names or p.suffix in (".rb", ".gemspec")]
    assert summary["inspected_file_count"] == len(sources) > 12 * 15
    assert summary["offense_count"] == 0


@pytest.mark.parametrize("contract", CONTRACTS, ids=list(CONTRACTS))
def test_the_contract_is_rendered_exactly(every_feed: Path, tmp_path: Path, contract: str) -> None:
    """Ruby reads from contract.rb what the manifest holds, hostile prompts included."""
    folder = write("ruby", tmp_path, every_feed, contract=CONTRACTS[contract])
    show = 'load "lib/every_feed/contract.rb"; puts EveryFeed.module_eval("CONTRACT").to_json'
    manifest = read_head(every_feed).manifest
    expected = manifest.contract.model_copy(update=CONTRACTS[contract])
    found = json.loads(run("ruby", "-w", "-rjson", "-e", show, cwd=folder))
    assert found == expected.model_dump(mode="json")


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize(
    "model", ["every_feed", "every_feed_left", "every_feed_int8", "every_feed_bits"]
)
def test_its_own_tests_pass(
    gems: str, model: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The client's tests pass with every feed, with padding on either side, and quantized."""
    path: Path = request.getfixturevalue(model)
    printed = own_tests(write("ruby", tmp_path, path), path, gems)
    assert re.search(r"\b[4-9]\d runs, .* 0 failures, 0 errors, 0 skips", printed), printed


def test_its_tests_need_a_model(client: Path, gems: str) -> None:
    """Without POLYBAKE_MODEL the tests fail and say what to set."""
    environment = {key: value for key, value in os.environ.items() if key != "POLYBAKE_MODEL"}
    done = subprocess.run(
        ["bundle", "exec", "rake", "test"],
        cwd=client,
        env=environment | {"BUNDLE_PATH": gems},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "set POLYBAKE_MODEL to the path of the baked .onnx file" in done.stderr


@pytest.mark.usefixtures("client")
def test_hostile_prompts_stay_text(gems: str, tmp_path: Path) -> None:
    """A client for a model with hostile prompts passes its own tests."""
    model = write_every_feed_model(tmp_path / "m.onnx", **CONTRACTS["hostile"])
    own_tests(write("ruby", tmp_path / "client", model), model, gems)


def test_the_harness_speaks_the_protocol(client: Path, gems: str, every_feed: Path) -> None:
    """One answer a line, ASCII only, also for a text that Ruby's JSON parser refuses."""
    requests: list[dict[str, Any]] = [
        {"cmd": "start", "protocol": 1, "model": str(every_feed), "device": "cpu"},
        {"cmd": "tokenize", "texts": ["a", "\U0001f469 \\ud800"], "prompt": None},
        {"cmd": "embed", "texts": ["a", "b \ud800"], "prompt": None},
        {"cmd": "embed", "texts": ["a"], "prompt": "é"},
        {"cmd": "dance"},
        {"cmd": "self_check"},
        {"cmd": "stop"},
    ]
    settings = json.loads((client / "harness.json").read_text(encoding="utf-8"))
    done = subprocess.run(
        settings["run"],
        input="".join(json.dumps({"seq": i, **r}) + "\n" for i, r in enumerate(requests)),
        cwd=client,
        env=os.environ | settings["environment"] | {"BUNDLE_PATH": gems, "LC_ALL": "C"},
        capture_output=True,
        encoding="ascii",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    start, tokens, invalid, unknown, skipped, checked, stopped = map(
        json.loads, done.stdout.splitlines()
    )
    assert start["results"]["provider"]["active"] == "CPUExecutionProvider"
    assert start["results"]["client"]["language"] == "ruby"
    assert len(tokens["results"]) == 2
    assert (invalid["kind"], invalid["index"]) == ("invalid_text", 1)
    assert unknown["kind"] == "unknown_prompt"
    assert unknown["message"] == 'unknown prompt "é"; choose one of: document, query'
    assert skipped["skipped"]
    assert 0 <= checked["results"] < 1e-5
    assert stopped == {"seq": 6, "results": None}


def test_the_package_works_elsewhere(
    client: Path, gems: str, every_feed: Path, tmp_path: Path
) -> None:
    """The gem, installed in an empty project, runs the README's three lines."""
    project = tmp_path / "an empty project"
    cache = project / "vendor/cache"  # where Bundler looks first
    cache.mkdir(parents=True)
    built = cache / "every_feed-0.1.0.gem"
    run("gem", "build", "every_feed.gemspec", "--output", built, cwd=client)
    source = (client / "Gemfile").read_text().splitlines()[0]
    (project / "Gemfile").write_text(f'{source}\n\ngem "every_feed"\n')
    run("bundle", "install", "--quiet", cwd=project, BUNDLE_PATH=gems)
    block = re.search(r"```ruby\n(.*?)```", (client / "README.md").read_text(), re.DOTALL)
    assert block
    lines = block[1].replace("every-feed.onnx", str(every_feed))
    assert " " in str(every_feed)
    assert run("bundle", "exec", "ruby", "-w", "-e", lines, cwd=project, BUNDLE_PATH=gems) == "7\n"
