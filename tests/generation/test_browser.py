"""The browser's client: clean, tested in a page, bundled, and quiet."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from models.files.every_feed import write_every_feed_model
from models.files.task_models import TASK_MODELS
from polybake.base.modelfile.container import read_head
from polybake.errors import InputError
from polybake.generation import render_client
from polybake.verification.verify import verify
from support.clients.conversation import EMBED, ask, check_protocol, lines, start
from support.clients.heads import check_heads, write_heads_client
from support.clients.hostile import CONTRACTS
from support.clients.planted import Fault, faults
from support.clients.rendered import NAMES, OUTPUTS, check_task, failed, run, write

pytestmark = pytest.mark.browser

#: Of models whose clients pass the same tests: fixtures of these names.
MODELS = ("every_feed_left", "every_feed_default", "every_feed_int8", "every_feed_bits")

#: Tests of what depends on the model; the others are run with one model alone.
OF_VECTORS = ("embedder", "batches", "self-check", "tokenizer")


@pytest.fixture(scope="module")
def client(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The client of the model that takes every feed, made runnable as its harness.json says."""
    folder = write("browser", tmp_path_factory.mktemp("client"), every_feed)
    settings = json.loads((folder / "harness.json").read_text(encoding="utf-8"))
    for command in settings["prepare"]:
        run(*command, cwd=folder)
    yield folder
    run("rm", "-r", "node_modules", cwd=folder)


def with_packages_of(client: Path, folder: Path) -> Path:
    (folder / "node_modules").symlink_to(client / "node_modules")
    return folder


def own_tests(folder: Path, model: Path, *names: str) -> tuple[int, list[str]]:
    """Run the client's tests, or those of these names: how many pass, and which fail."""
    done = subprocess.run(
        ["node", "tests/run.js", *(f"{name}.test.js" for name in names)],
        cwd=folder,
        env=os.environ | {"POLYBAKE_MODEL": str(model)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    passed = re.search(r"^# pass (\d+)$", done.stdout, re.MULTILINE)
    wrong = re.findall(r"^not ok - (.*)$", done.stdout, re.MULTILINE)
    assert passed, done.stdout + done.stderr
    assert (done.returncode == 0) is (not wrong), done.stdout + done.stderr
    return int(passed[1]), wrong


def check_clean(folder: Path) -> None:
    """Biome has nothing to change or to say."""
    printed = run("npm", "run", "lint", "--", "--colors=off", cwd=folder)
    assert re.search(r"Checked \d+ files in \S+ No fixes applied", printed), printed


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("contract", CONTRACTS, ids=list(CONTRACTS))
def test_every_render_is_clean(
    client: Path, every_feed: Path, tmp_path: Path, name: str, contract: str
) -> None:
    """Whatever the name and the prompts."""
    folder = write("browser", tmp_path / "c", every_feed, name=name, contract=CONTRACTS[contract])
    check_clean(with_packages_of(client, folder))


@pytest.mark.parametrize("output", OUTPUTS)
def test_every_output_is_clean(client: Path, every_feed: Path, tmp_path: Path, output: str) -> None:
    """The same, whatever the dtype of the embeddings; TypeScript has nothing to say either."""
    folder = write("browser", tmp_path / "c", every_feed, contract={"output": OUTPUTS[output]})
    check_clean(with_packages_of(client, folder))
    run("npm", "run", "types", cwd=folder)


def test_its_own_tests_pass(client: Path, every_feed: Path) -> None:
    """They pass on a model that takes every feed."""
    passed, wrong = own_tests(client, every_feed)
    assert (passed > 60, wrong) == (True, [])


@pytest.mark.parametrize("model", MODELS)
def test_vectors_of(
    client: Path, model: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """They are golden, padded on the left, with a default prompt, and quantized."""
    path: Path = request.getfixturevalue(model)
    folder = with_packages_of(client, write("browser", tmp_path / "client", path))
    passed, wrong = own_tests(folder, path, *OF_VECTORS)
    assert (passed > 20, wrong) == (True, [])
    report = verify(path, folder)
    assert (report.exit_code(), failed(report)) == (0, [])


def test_hostile_prompts_stay_text(client: Path, tmp_path: Path) -> None:
    """A client for a model with hostile prompts compiles, and its vectors are golden."""
    model = write_every_feed_model(tmp_path / "m.onnx", **CONTRACTS["hostile"])
    folder = with_packages_of(client, write("browser", tmp_path / "client", model))
    run("npm", "run", "types", cwd=folder)
    report = verify(model, folder)
    assert (report.exit_code(), failed(report)) == (0, [])


@pytest.mark.parametrize("task", TASK_MODELS)
def test_each_task_has_its_client(client: Path, task: str, tmp_path: Path) -> None:
    """It is clean, passes its own tests, and reproduces vectors and answers."""
    model = TASK_MODELS[task](tmp_path / f"tiny-{task}.onnx")
    folder = with_packages_of(client, write("browser", tmp_path / "client", model))
    check_clean(folder)
    run("npm", "run", "types", cwd=folder)
    passed, wrong = own_tests(folder, model)
    assert (passed > 10, wrong) == (True, [])
    check_task(model, folder)


@pytest.mark.planted
@faults("browser")
def test_its_own_tests_catch(
    client: Path, fault: Fault, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A fault fails the few tests that are about it."""
    path: Path = request.getfixturevalue(fault.model)
    folder = with_packages_of(client, write("browser", tmp_path / "client", path))
    fault.plant(folder)
    passed, wrong = own_tests(folder, path, fault.tests)
    assert 1 <= len(wrong) <= 8
    assert passed > 0


def test_its_tests_need_a_model(client: Path) -> None:
    """Without POLYBAKE_MODEL the tests fail and say what to set."""
    environment = {key: value for key, value in os.environ.items() if key != "POLYBAKE_MODEL"}
    done = subprocess.run(
        ["npm", "test"], cwd=client, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "set POLYBAKE_MODEL to the path of the baked .onnx file" in done.stderr


def test_the_harness_speaks_the_protocol(client: Path, every_feed: Path) -> None:
    """One answer a line, ASCII only."""
    cuda, _ = check_protocol(client, every_feed, "browser")
    assert cuda["message"] == 'unknown device "cuda"; choose one of: cpu'


def test_a_file_that_is_not_there(client: Path, tmp_path: Path) -> None:
    """A path that an address would have to escape is what the error names."""
    path = tmp_path / 'a "h\u00e9ad" % # $& ?.onnx'
    (answer,) = ask(client, start(path))
    remedy = "give the address of a baked .onnx file"
    assert answer["message"] == f"{path}: cannot be read (404 Not Found); {remedy}"


def test_heads_are_read_as_everywhere(client: Path, tmp_path: Path) -> None:
    """Of every damaged head the client says the words that every reader says."""
    folder = with_packages_of(client, write_heads_client("browser", tmp_path / "client"))
    check_heads(folder, tmp_path)


def test_a_model_with_weights_beside_has_no_client(every_feed_beside: Path) -> None:
    """It is above what a page holds, and said before anything is written."""
    with pytest.raises(InputError, match="browser: its clients take no weights beside"):
        render_client(read_head(every_feed_beside).manifest, "browser")


#: A page that opens the model at an address.
PAGE = """
import { Embedder } from "every-feed";
export async function answer(address) {
  await using embedder = await Embedder.open(address);
  return String(await embedder.selfCheck());
}
"""

#: Lets a page of a client's folder do so.
ASK = """
import { openPage } from "./harness/chromium.js";
const page = await openPage("app/page.js", { imports: JSON.parse(process.env.IMPORTS) });
page.serve("/model.onnx", process.env.MODEL);
console.log(await page.ask("/model.onnx"));
await page.close();
process.exit();
"""


@pytest.fixture(scope="module")
def project(
    client: Path, every_feed: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """A user's project, with what the README installs, in a folder that Chromium is shown."""
    source = write("browser", tmp_path_factory.mktemp("outside") / "browser", every_feed)
    folder = client / "app"
    folder.mkdir()
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    (folder / "page.js").write_text(PAGE)
    readme = (client / "README.md").read_text(encoding="utf-8")
    (install,) = re.findall(r"^```sh\n(npm config .*?)^```$", readme, re.DOTALL | re.MULTILINE)
    assert "npm install ./clients/browser" in install
    run("sh", "-c", install.replace("./clients/browser", str(source)), cwd=folder)
    yield folder
    run("rm", "-r", folder, cwd=client)


def asked(client: Path, model: Path, imports: dict[str, str | None]) -> float:
    """What the page says of the model, where the import map has these entries as well."""
    command = ("node", "--input-type=module", "--eval", ASK)
    return float(run(*command, cwd=client, MODEL=str(model), IMPORTS=json.dumps(imports)))


def test_it_needs_no_bundler(client: Path, project: Path, every_feed: Path) -> None:
    """The README's import map is all that a page has to say."""
    readme = (client / "README.md").read_text(encoding="utf-8")
    (given,) = re.findall(r'<script type="importmap">(.*?)</script>', readme, re.DOTALL)
    imports = json.loads(given)["imports"]
    assert all((project / path).is_file() for path in imports.values())
    imports = {name: path.replace("./", "/app/", 1) for name, path in imports.items()}
    assert asked(client, every_feed, imports) < 1e-5


def test_a_bundler_needs_no_settings(client: Path, project: Path, every_feed: Path) -> None:
    """Vite finds worker, runtime and WebAssembly by itself, in a page without an import map."""
    run("npm", "install", "--save-dev", "vite", cwd=project)
    (project / "vite.config.js").write_text("""
        const output = { entryFileNames: "page.js" };
        const rollupOptions = { input: "page.js", preserveEntrySignatures: "strict", output };
        export default { base: "/app/", build: { outDir: "../built", rollupOptions } };
    """)
    run("npx", "vite", "build", "--emptyOutDir", cwd=project)
    shown = project.rename(client / "source")
    (client / "built").rename(project)
    try:
        assert asked(client, every_feed, {"onnxruntime-web/wasm": None}) < 1e-5
    finally:
        project.rename(client / "built")
        shown.rename(project)


def test_without_runtime_it_says_what_to_do(client: Path, every_feed: Path, tmp_path: Path) -> None:
    """A page that neither maps the runtime nor is bundled has an error with a remedy."""
    folder = with_packages_of(client, write("browser", tmp_path / "client", every_feed))
    (folder / "app").mkdir()
    (folder / "app/page.js").write_text("""
        import { Embedder } from "../src/index.js";
        export const answer = (address) => Embedder.open(address).catch((error) => error.message);
    """)
    command = ("node", "--input-type=module", "--eval", ASK)
    imports = json.dumps({"onnxruntime-web/wasm": None})
    message = run(*command, cwd=folder, MODEL=str(every_feed), IMPORTS=imports)
    assert "name onnxruntime-web/wasm in the page's import map, or bundle the page" in message


TYPED = """
import { Embedder, EmbedderError, type OpenOptions, type Source, type Vector } from "every-feed";
const progress: OpenOptions["progress"] = ({ loaded, total }) => loaded / total;
export async function main(file: File, signal: AbortSignal): Promise<number> {
  const sources: Source[] = [new URL("m.onnx", import.meta.url), file, new ArrayBuffer(1)];
  await using embedder = await Embedder.open(sources[0]!, { cache: true, progress, signal });
  const vectors: Float32Array[] = await embedder.embed(["a"], { prompt: "query" });
  const vector: Vector = await embedder.embedQuery("a");
  // @ts-expect-error there is no such device
  await Embedder.open("m.onnx", { device: "webgpu" }).catch((error: EmbedderError) => error);
  return vectors.length + vector.length;
}
"""


def test_its_types_reach_users(client: Path, project: Path) -> None:
    """A strict project compiles, and declarations are checked."""
    (project / "typed.ts").write_text(TYPED)
    strict = ("--strict", "--target", "es2022", "--noEmit", "--skipLibCheck", "false")
    modules = ("--module", "esnext", "--moduleResolution", "bundler", "--ignoreConfig")
    run(client / "node_modules/.bin/tsc", *strict, *modules, "typed.ts", cwd=project)


def chromiums(home: Path) -> list[str]:
    """Processes of Chromium whose own folders lie in this one."""
    every = run("ps", "-ewwo", "args", cwd=home).splitlines()  # ww: whole, whatever COLUMNS says
    return [line for line in every if f"--user-data-dir={home}" in line]


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder of a short name: Chromium has a socket below it, whose path may have 107 bytes."""
    with tempfile.TemporaryDirectory(prefix="p", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.mark.parametrize("ends", ["stdin", "term", "kill"])
def test_no_browser_is_left_behind(client: Path, every_feed: Path, short: Path, ends: str) -> None:
    """However the harness ends, Chromium ends, and but for a kill its folder is gone."""
    with subprocess.Popen(
        ["node", "harness/harness.js"],
        cwd=client,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(short)},
    ) as harness:
        assert harness.stdin
        assert harness.stdout
        harness.stdin.write(lines([start(every_feed), EMBED]))
        harness.stdin.flush()
        assert all('"results"' in harness.stdout.readline() for _ in range(2))
        assert chromiums(short)
        if ends == "stdin":
            harness.stdin.close()
        else:
            harness.terminate() if ends == "term" else harness.kill()
        harness.wait(20)
    for _ in range(100):
        if not chromiums(short):
            break
        time.sleep(0.1)
    assert not chromiums(short)
    assert ends == "kill" or not list(short.iterdir())


def test_a_machine_without_chromium_says_so(client: Path, every_feed: Path, tmp_path: Path) -> None:
    """The error names what is looked for, and what to set."""
    (tmp_path / "node").symlink_to(run("which", "node", cwd=client).strip())
    done = subprocess.run(
        [tmp_path / "node", "harness/harness.js"],
        cwd=client,
        env={"PATH": str(tmp_path)},
        input=lines([start(every_feed)]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "no Chromium on PATH (chromium, " in done.stderr
    assert "set CHROME_PATH" in done.stderr
