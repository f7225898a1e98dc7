"""The Node client: clean, packaged, installed elsewhere, and run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from models.every_feed import write_every_feed_model
from polybake.modelfile.container import read_head
from support.hostile import CONTRACTS
from support.rendered import NAMES, OUTPUTS, run, write

pytestmark = pytest.mark.node


@pytest.fixture(scope="module")
def client(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The client of the model that takes every feed, made runnable as its harness.json says."""
    folder = write("node", tmp_path_factory.mktemp("client"), every_feed)
    settings = json.loads((folder / "harness.json").read_text(encoding="utf-8"))
    for command in settings["prepare"]:
        run(*command, cwd=folder, **settings["environment"])
    yield folder
    shutil.rmtree(folder / "node_modules")


@pytest.fixture(scope="module")
def package(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What npm pack makes of a folder that was just rendered."""
    folder = write("node", tmp_path_factory.mktemp("rendered"), every_feed)
    run("npm", "pack", cwd=folder)
    shutil.rmtree(folder / "node_modules")
    return folder / "every-feed-0.1.0.tgz"


@pytest.fixture(scope="module")
def project(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty project elsewhere, with the package installed."""
    folder = tmp_path_factory.mktemp("an empty project")
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    options = ("--no-audit", "--no-fund", "--prefer-offline")
    run("npm", "install", *options, package, cwd=folder, ONNXRUNTIME_NODE_INSTALL="skip")
    yield folder
    shutil.rmtree(folder / "node_modules")


def with_packages_of(client: Path, folder: Path) -> Path:
    (folder / "node_modules").symlink_to(client / "node_modules")
    return folder


def own_tests(folder: Path, model: Path) -> int:
    """Run the client's tests and return how many passed."""
    printed = run("npm", "test", cwd=folder, POLYBAKE_MODEL=str(model))
    assert re.search(r"^\S+ fail 0$", printed, re.MULTILINE), printed
    passed = re.search(r"^\S+ pass (\d+)$", printed, re.MULTILINE)
    assert passed, printed
    return int(passed[1])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("contract", CONTRACTS, ids=list(CONTRACTS))
def test_every_render_is_clean(
    client: Path, every_feed: Path, tmp_path: Path, name: str, contract: str
) -> None:
    """Biome has nothing to change or to say, whatever the name and the prompts."""
    folder = write("node", tmp_path / "client", every_feed, name=name, contract=CONTRACTS[contract])
    check_clean(client, folder)


@pytest.mark.parametrize("output", OUTPUTS)
def test_every_output_is_clean(client: Path, every_feed: Path, tmp_path: Path, output: str) -> None:
    """The same, whatever the dtype of the embeddings; TypeScript has nothing to say either."""
    folder = write("node", tmp_path / "client", every_feed, contract={"output": OUTPUTS[output]})
    check_clean(client, folder)
    run("npm", "run", "build", cwd=folder)


def check_clean(client: Path, folder: Path) -> None:
    with_packages_of(client, folder)
    printed = run("npm", "run", "lint", "--", "--colors=off", cwd=folder)
    checked = re.search(r"Checked (\d+) files in \S+ No fixes applied", printed)
    assert checked, printed
    assert int(checked[1]) >= len([*folder.rglob("*.ts"), *folder.glob("*.json")])


@pytest.mark.parametrize(
    "contract",
    [*CONTRACTS.values(), {"prompts": {"__proto__": "p", "constructor": "c", "1": "one"}}],
    ids=[*CONTRACTS, "inherited"],
)
def test_the_contract_is_rendered_exactly(
    client: Path, every_feed: Path, tmp_path: Path, contract: dict[str, Any]
) -> None:
    """Node reads from contract.ts what the manifest holds, hostile prompts included."""
    folder = with_packages_of(
        client, write("node", tmp_path / "client", every_feed, contract=contract)
    )
    run("npm", "run", "build", cwd=folder)
    show = (
        'import { CONTRACT } from "./dist/src/contract.js"; console.log(JSON.stringify(CONTRACT))'
    )
    found = json.loads(run("node", "--input-type=module", "--eval", show, cwd=folder))
    expected = read_head(every_feed).manifest.contract.model_copy(update=contract)
    assert found == expected.model_dump(mode="json")


@pytest.mark.parametrize(
    "model", ["every_feed", "every_feed_left", "every_feed_int8", "every_feed_bits"]
)
def test_its_own_tests_pass(
    client: Path, model: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The client's tests pass with every feed, with padding on either side, and quantized."""
    path: Path = request.getfixturevalue(model)
    folder = with_packages_of(client, write("node", tmp_path / "client", path))
    assert own_tests(folder, path) > 60


def test_its_tests_need_a_model(client: Path) -> None:
    """Without POLYBAKE_MODEL the tests fail and say what to set."""
    done = subprocess.run(
        ["npm", "test"],
        cwd=client,
        env={key: value for key, value in os.environ.items() if key != "POLYBAKE_MODEL"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "set POLYBAKE_MODEL to the path of the baked .onnx file" in done.stdout


def test_hostile_prompts_stay_text(client: Path, tmp_path: Path) -> None:
    """A client for a model with hostile prompts compiles and passes its own tests."""
    model = write_every_feed_model(tmp_path / "m.onnx", **CONTRACTS["hostile"])
    folder = with_packages_of(client, write("node", tmp_path / "client", model))
    assert own_tests(folder, model) > 60


def test_the_harness_speaks_the_protocol(client: Path, every_feed: Path) -> None:
    """One answer a line, ASCII only; nothing that another library prints comes between."""
    requests = [
        {"cmd": "embed", "texts": ["too early"], "prompt": None},
        {"cmd": "start", "protocol": 1, "model": str(every_feed), "device": "tpu"},
        {"cmd": "start", "protocol": 1, "model": "no such file.onnx", "device": "cpu"},
        {"cmd": "start", "protocol": 1, "model": str(every_feed), "device": "cpu"},
        {"cmd": "tokenize", "texts": ["a", "\U0001f469 \u2028"], "prompt": None},
        {"cmd": "embed_ids", "input_ids": [[2, 4, 3], []], "prompt": "query"},
        {"cmd": "embed", "texts": ["a", "b \ud800"], "prompt": None},
        {"cmd": "embed", "texts": ["a"], "prompt": "\u00e9"},
        {"cmd": "toString"},
        {"cmd": "self_check"},
        {"cmd": "stop"},
    ]
    run("npm", "run", "build", cwd=client)
    settings = json.loads((client / "harness.json").read_text(encoding="utf-8"))
    done = subprocess.run(
        settings["run"],
        input="".join(json.dumps({"seq": i, **r}) + "\n" for i, r in enumerate(requests)),
        cwd=client,
        env=os.environ | settings["environment"],
        capture_output=True,
        encoding="ascii",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["seq"] for answer in answers] == list(range(len(requests)))
    early, device, file, start, tokens, vectors, invalid, unknown, skipped, checked, stop = answers
    assert [early["kind"], device["kind"], file["kind"]] == ["internal", "device", "wrong_model"]
    assert start["results"]["client"]["language"] == "node"
    assert start["results"]["provider"] == {
        "requested": "cpu",
        "active": "CPUExecutionProvider",
        "proven_by": "append",
    }
    assert len(tokens["results"]) == 2
    assert vectors["results"]["shape"] == [2, 7]
    assert (invalid["kind"], invalid["index"]) == ("invalid_text", 1)
    assert unknown["kind"] == "unknown_prompt"
    assert unknown["message"] == 'unknown prompt "\u00e9"; choose one of: document, query'
    assert skipped["skipped"]
    assert 0 <= checked["results"] < 1e-5
    assert stop["results"] is None


def test_the_package_holds_the_library_alone(package: Path) -> None:
    """Neither tests nor the harness are shipped; code, types and README are."""
    with tarfile.open(package) as archive:
        names = {name.removeprefix("package/") for name in archive.getnames()}
    others = {name for name in names if not name.startswith("dist/src/")}
    assert others == {"package.json", "README.md"}
    assert {"dist/src/index.js", "dist/src/index.d.ts"} <= names


def test_the_package_works_elsewhere(client: Path, project: Path, every_feed: Path) -> None:
    """The tarball, installed in an empty project, runs the README's three lines."""
    block = re.search(r"```js\n(.*?)```", (client / "README.md").read_text(), re.DOTALL)
    assert block
    assert " " in str(every_feed)
    script = project / "three lines.js"
    script.write_text(block[1].replace("every-feed.onnx", str(every_feed)))
    assert "Float32Array(7) [" in run("node", script, cwd=project)


def test_its_types_are_whole(client: Path, project: Path) -> None:
    """A strict project compiles against the package's types, library declarations included."""
    (project / "typed.ts").write_text(
        'import { Embedder, type EmbedOptions } from "every-feed";\n'
        'const options: EmbedOptions = { prompt: "query" };\n'
        'await using embedder = await Embedder.open("m.onnx", { device: "cpu", threads: 1 });\n'
        'const vectors: Float32Array[] = await embedder.embed(["a"], options);\n'
        "console.log(vectors);\n"
    )
    tsc = client / "node_modules/.bin/tsc"
    types = client / "node_modules/@types"
    options = ("--strict", "--module", "nodenext", "--target", "es2022", "--noEmit")
    run(tsc, *options, "--typeRoots", types, "--types", "node", "typed.ts", cwd=project)
