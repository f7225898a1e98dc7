"""What only the browser has: Chromium, and a user's page."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from generation.clients.conftest import alone
from support.clients.conversation import EMBED, lines, start
from support.clients.rendered import blocks, run, write
from support.clients.toolchain import Toolchain

pytestmark = alone("browser")


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
def shown(toolchain: Toolchain, every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A client's folder, which Chromium is shown."""
    client = write("browser", tmp_path_factory.mktemp("shown") / "browser", every_feed)
    toolchain.build(client)
    return client


@pytest.fixture(scope="module")
def project(
    shown: Path, every_feed: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """A user's project in it, with what the README installs."""
    source = write("browser", tmp_path_factory.mktemp("outside") / "browser", every_feed)
    folder = shown / "app"
    folder.mkdir()
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    (folder / "page.js").write_text(PAGE)
    (install,) = [code for code in blocks(shown, "sh") if code.startswith("npm config ")]
    assert "npm install ./clients/browser" in install
    run("sh", "-c", install.replace("./clients/browser", str(source)), cwd=folder)
    yield folder
    shutil.rmtree(folder)


def asked(client: Path, model: Path, imports: dict[str, str | None]) -> str:
    """What the page says of the model, where the import map has these entries as well."""
    command = ("node", "--input-type=module", "--eval", ASK)
    return run(*command, cwd=client, MODEL=str(model), IMPORTS=json.dumps(imports))


def test_it_needs_no_bundler(shown: Path, project: Path, every_feed: Path) -> None:
    """The README's import map is all that a page has to say."""
    readme = (shown / "README.md").read_text(encoding="utf-8")
    (given,) = re.findall(r'<script type="importmap">(.*?)</script>', readme, re.DOTALL)
    imports = json.loads(given)["imports"]
    assert all((project / path).is_file() for path in imports.values())
    imports = {name: path.replace("./", "/app/", 1) for name, path in imports.items()}
    assert float(asked(shown, every_feed, imports)) < 1e-5


def test_a_bundler_needs_no_settings(shown: Path, project: Path, every_feed: Path) -> None:
    """Vite finds worker, runtime and WebAssembly by itself, in a page without an import map."""
    run("npm", "install", "--save-dev", "vite", cwd=project)
    (project / "vite.config.js").write_text("""
        const output = { entryFileNames: "page.js" };
        const rollupOptions = { input: "page.js", preserveEntrySignatures: "strict", output };
        export default { base: "/app/", build: { outDir: "../built", rollupOptions } };
    """)
    run("npx", "vite", "build", "--emptyOutDir", cwd=project)
    source = project.rename(shown / "source")
    (shown / "built").rename(project)
    try:
        assert float(asked(shown, every_feed, {"onnxruntime-web/wasm": None})) < 1e-5
    finally:
        project.rename(shown / "built")
        source.rename(project)


def test_without_runtime_it_says_what_to_do(
    toolchain: Toolchain, every_feed: Path, tmp_path: Path
) -> None:
    """A page that neither maps the runtime nor is bundled has an error with a remedy."""
    folder = write("browser", tmp_path / "browser", every_feed)
    toolchain.build(folder)
    (folder / "app").mkdir()
    (folder / "app/page.js").write_text("""
        import { Embedder } from "../src/index.js";
        export const answer = (address) => Embedder.open(address).catch((error) => error.message);
    """)
    message = asked(folder, every_feed, {"onnxruntime-web/wasm": None})
    assert "name onnxruntime-web/wasm in the page's import map, or bundle the page" in message


TYPED = """
import { ClientError, Embedder, type OpenOptions, type Source } from "every-feed";
const progress: OpenOptions["progress"] = ({ loaded, total }) => loaded / total;
export async function main(file: File, signal: AbortSignal): Promise<number> {
  const sources: Source[] = [new URL("m.onnx", import.meta.url), file, new ArrayBuffer(1)];
  await using embedder = await Embedder.open(sources[0]!, { progress, signal });
  const vectors: Float32Array[] = await embedder.embed(["a"], { prompt: "query" });
  const vector: Float32Array = await embedder.embedQuery("a");
  // @ts-expect-error there is no such device
  await Embedder.open("m.onnx", { device: "webgpu" }).catch((error: ClientError) => error);
  return vectors.length + vector.length;
}
"""


def test_its_types_reach_users(shown: Path, project: Path) -> None:
    """A strict project compiles, and declarations are checked."""
    (project / "typed.ts").write_text(TYPED)
    strict = ("--strict", "--target", "es2022", "--noEmit", "--skipLibCheck", "false")
    modules = ("--module", "esnext", "--moduleResolution", "bundler", "--ignoreConfig")
    run(shown / "node_modules/.bin/tsc", *strict, *modules, "typed.ts", cwd=project)
