"""The Node client: clean, installed elsewhere, typed, and run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from models.files.every_feed import write_every_feed_model
from models.files.task_models import TASK_MODELS
from polybake.base.modelfile.container import read_head
from support.clients.conversation import Message, ask, start
from support.clients.heads import check_heads, write_heads_client
from support.clients.hostile import CONTRACTS
from support.clients.planted import Fault, faults
from support.clients.rendered import (
    NAMES,
    OUTPUTS,
    RETURNS_MEMORY,
    check_task,
    run,
    write,
)
from support.processes.fresh_home import run_silently

pytestmark = pytest.mark.node

Run = Callable[..., str]

#: Opens the model of MODEL by the client in SOURCE.
OPEN = """
const { Embedder } = await import(process.env.SOURCE);
const embedder = await Embedder.open(process.env.MODEL);
"""


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
def project(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project outside the client's folder, with what the README and a later command install."""
    folder = tmp_path_factory.mktemp("an empty project")
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    client = write("node", tmp_path_factory.mktemp("outside") / "node", every_feed)
    (folder / "clients").symlink_to(client.parent)  # where the tests read its README
    (install,) = blocks(client, "sh")[:1]
    assert "npm install ./clients/node" in install
    run("sh", "-c", install.replace("./clients/node", str(client)), cwd=folder)
    run("npm", "install", "-D", "typescript@~7.0.2", "@types/node@^20.19.0", cwd=folder)
    assert not (client / "node_modules").exists()
    yield folder
    shutil.rmtree(folder / "node_modules")


def blocks(client: Path, language: str) -> list[str]:
    """The code blocks of a client's README."""
    readme = (client / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)


def with_packages_of(client: Path, folder: Path) -> Path:
    (folder / "node_modules").symlink_to(client / "node_modules")
    return folder


#: Tests of what depends on the model; the others are run with one model alone.
OF_VECTORS = ("embedder", "batches", "self-check")


def own_tests(folder: Path, model: Path, *names: str) -> tuple[int, set[str]]:
    """Run the client's tests, or those of these names: how many passed, and which failed."""
    files = [f"tests/{name}.test.js" for name in names]
    done = subprocess.run(
        ["node", "--test", *files] if files else ["npm", "test"],
        cwd=folder,
        env=os.environ | {"POLYBAKE_MODEL": str(model)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    passed = re.search(r"^\S+ pass (\d+)$", done.stdout, re.MULTILINE)
    failed = set(re.findall(r"^(?:not ok \d+ -|✖) (.*)$", done.stdout, re.MULTILINE))
    assert passed, done.stdout + done.stderr
    assert (done.returncode == 0) is (not failed), done.stdout + done.stderr
    return int(passed[1]), failed


def evaluate(
    script: str, *, cwd: Path, client: Path, model: Path, run: Run = run, **env: str
) -> str:
    """Run a module that opens the model by the client; what it printed."""
    source = (client / "src/index.js").as_uri()
    command = ("node", "--input-type=module", "--eval", OPEN + script)
    return run(*command, cwd=cwd, SOURCE=source, MODEL=str(model), **env)


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
    run("npm", "run", "types", cwd=folder)


def test_its_types_are_right(client: Path) -> None:
    """TypeScript finds nothing, and that index.d.ts says what the code does."""
    run("npm", "run", "types", cwd=client)
    types = client / "index.d.ts"
    whole = types.read_text(encoding="utf-8")
    types.write_text(whole.replace("readonly row: number", "readonly row: string"))
    done = subprocess.run(["npm", "run", "types"], cwd=client, capture_output=True, check=False)
    types.write_text(whole)
    assert done.returncode != 0
    assert b"tests/types.ts" in done.stdout


def check_clean(client: Path, folder: Path) -> None:
    with_packages_of(client, folder)
    printed = run("npm", "run", "lint", "--", "--colors=off", cwd=folder)
    checked = re.search(r"Checked (\d+) files in \S+ No fixes applied", printed)
    assert checked, printed
    written = [*folder.rglob("*.js"), *folder.rglob("*.ts"), *folder.glob("*.json")]
    assert int(checked[1]) >= len([file for file in written if "node_modules" not in file.parts])


@pytest.mark.parametrize(
    "contract",
    [*CONTRACTS.values(), {"prompts": {"__proto__": "p", "constructor": "c", "1": "one"}}],
    ids=[*CONTRACTS, "inherited"],
)
def test_the_contract_is_rendered_exactly(
    every_feed: Path, tmp_path: Path, contract: dict[str, Any]
) -> None:
    """Node reads from contract.js what the manifest holds, hostile prompts included."""
    folder = write("node", tmp_path / "client", every_feed, contract=contract)
    show = 'import { CONTRACT } from "./src/contract.js"; console.log(JSON.stringify(CONTRACT))'
    found = json.loads(run("node", "--input-type=module", "--eval", show, cwd=folder))
    expected = read_head(every_feed).manifest.contract.model_copy(update=contract)
    assert found == expected.model_dump(mode="json")


@pytest.mark.parametrize(
    "model",
    ["every_feed", "every_feed_left", "every_feed_int8", "every_feed_bits", "every_feed_default"],
)
def test_its_own_tests_pass(
    client: Path, model: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The client's tests pass with every feed, with padding on either side, and quantized."""
    path: Path = request.getfixturevalue(model)
    folder = with_packages_of(client, write("node", tmp_path / "client", path))
    names, least = ((), 50) if model == "every_feed" else (OF_VECTORS, 12)
    passed, failed = own_tests(folder, path, *names)
    assert not failed
    assert passed >= least


def test_weights_beside_the_graph(client: Path, every_feed_beside: Path, tmp_path: Path) -> None:
    """The client of such a file is clean, and its tests of files and of vectors pass."""
    folder = write("node", tmp_path / "client", every_feed_beside)
    check_clean(client, folder)
    run("npm", "run", "types", cwd=folder)
    passed, failed = own_tests(folder, every_feed_beside, "modelfile", *OF_VECTORS)
    assert (passed > 20, failed) == (True, set())


@pytest.mark.parametrize("task", TASK_MODELS)
def test_each_task_has_its_client(client: Path, task: str, tmp_path: Path) -> None:
    """It is clean, passes its own tests, and reproduces vectors and answers."""
    model = TASK_MODELS[task](tmp_path / f"tiny-{task}.onnx")
    folder = write("node", tmp_path / "client", model)
    check_clean(client, folder)
    run("npm", "run", "types", cwd=folder)
    passed, failed = own_tests(folder, model)
    assert (passed > 10, failed) == (True, set())
    check_task(model, folder)


@pytest.mark.planted
@faults("node")
def test_its_own_tests_catch(
    client: Path, fault: Fault, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A fault fails the few tests that are about it, and no module is left that does not load.

    Only the file of these tests is run: all would take ten times as long.
    """
    path: Path = request.getfixturevalue(fault.model)
    folder = with_packages_of(client, write("node", tmp_path / "client", path))
    fault.plant(folder)
    passed, failed = own_tests(folder, path, fault.tests)
    assert 1 <= len(failed) <= 8
    assert passed > 2


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
    run("npm", "run", "types", cwd=folder)
    assert not own_tests(folder, model, *OF_VECTORS)[1]


@pytest.mark.parametrize("beside", [False, True])
def test_it_says_of_damaged_heads_what_every_reader_says(
    client: Path, beside: bool, tmp_path: Path
) -> None:
    """One harness opens every file of fixtures/heads in turn."""
    folder = write_heads_client("node", tmp_path / "client", beside=beside)
    check_heads(with_packages_of(client, folder), tmp_path, beside=beside)


def test_the_harness_speaks_the_protocol(client: Path, every_feed: Path) -> None:
    """One answer a line, ASCII only, of the kinds that the protocol has."""
    requests: list[Message] = [
        start(every_feed, "tpu"),
        start(every_feed),
        {"cmd": "tokenize", "texts": ["a", "\U0001f469 \u2028"], "prompt": None},
        {"cmd": "embed_ids", "input_ids": [[2, 4, 3], []], "prompt": "query"},
        {"cmd": "embed", "texts": ["a"], "prompt": "\u00e9"},
        {"cmd": "self_check"},
    ]
    device, started, tokens, vectors, unknown, checked = ask(client, *requests)
    assert device["kind"] == "device"
    assert started["results"]["client"]["language"] == "node"
    assert started["results"]["provider"] == {
        "requested": "cpu",
        "active": "CPUExecutionProvider",
        "proven_by": "append",
    }
    assert len(tokens["results"]) == 2
    assert vectors["results"]["shape"] == [2, 7]
    assert unknown["message"] == 'unknown prompt "\u00e9"; choose one of: query, document'
    assert 0 <= checked["results"] < 1e-5


def test_the_package_holds_the_library_alone(client: Path) -> None:
    """Neither tests nor the harness are packed; code, types and README are."""
    (packed,) = json.loads(run("npm", "pack", "--dry-run", "--json", "--silent", cwd=client))
    names = {file["path"] for file in packed["files"]}
    assert {name for name in names if not name.startswith("src/")} == {
        "README.md",
        "bulk.d.ts",
        "cuda.d.ts",
        "index.d.ts",
        "package.json",
    }


def test_the_three_lines_run(project: Path, every_feed: Path) -> None:
    """They are all that a new user needs."""
    three_lines, *_ = blocks(project / "clients/node", "js")
    assert " " in str(every_feed)
    script = project / "three lines.js"
    script.write_text(three_lines.replace("every-feed.onnx", str(every_feed)))
    assert "Float32Array(7) [" in run("node", script, cwd=project)


def test_the_service_answers(project: Path, every_feed: Path) -> None:
    """The README's web service gives vectors, and goes on after a wrong request."""
    _, service, *_ = blocks(project / "clients/node", "js")
    script = project / "service.js"
    code = service.replace("every-feed.onnx", str(every_feed))
    script.write_text(
        code.replace("server.listen(process.env.PORT ?? 8000);", "server.listen(0);")
        + """
        await new Promise((resolve) => server.on("listening", resolve));
        const url = `http://localhost:${server.address().port}`;
        const ask = (body) => fetch(url, { method: "POST", body: JSON.stringify(body) });
        const wrong = await ask("a");
        const right = await (await ask(["a", "b"])).json();
        console.log(JSON.stringify([wrong.status, right.length, right[0].length]));
        server.close();
        """
    )
    assert json.loads(run("node", script, cwd=project)) == [400, 2, 7]


def test_the_stream_runs(project: Path, every_feed: Path) -> None:
    """Each line of a file gives a vector."""
    *_, stream = blocks(project / "clients/node", "js")
    script = project / "stream.js"
    script.write_text(stream.replace("every-feed.onnx", str(every_feed)))
    (project / "texts.txt").write_text("a\nb\n", encoding="utf-8")
    assert run("node", script, cwd=project).count("Float32Array(7) [") == 2


def test_the_recipe_runs(project: Path, every_feed: Path) -> None:
    """The AI SDK takes the client for models of its own."""
    run("npm", "install", "ai", cwd=project, ONNXRUNTIME_NODE_INSTALL="skip")
    recipe = Path(__file__).parents[2] / "recipes/node/ai_sdk.js"
    (project / "ai_sdk.js").write_text(recipe.read_text(encoding="utf-8"), encoding="utf-8")
    script = project / "recipe.js"
    script.write_text(f"""
        import {{ cosineSimilarity, embed, embedMany }} from "ai";
        import {{ Embedder }} from "every-feed";
        import {{ embeddingModels }} from "./ai_sdk.js";
        const embedder = await Embedder.open({json.dumps(str(every_feed))});
        const {{ documents, queries }} = embeddingModels(embedder);
        const values = ["The cat sleeps on the sofa.", "Shares fell again today."];
        const {{ embeddings }} = await embedMany({{ model: documents, values }});
        const {{ embedding }} = await embed({{ model: queries, value: "a pet that rests" }});
        console.log(embeddings.map((one) => cosineSimilarity(one, embedding)));
        """)
    cat, shares = json.loads(run("node", script, cwd=project))
    assert -1 <= min(cat, shares) < max(cat, shares) <= 1


def test_it_can_be_required(project: Path, every_feed: Path) -> None:
    """A CommonJS module requires it, without a flag."""
    script = project / "required.cjs"
    script.write_text(
        'const { Embedder } = require("every-feed");\n'
        f"Embedder.open({json.dumps(str(every_feed))})"
        ".then((embedder) => embedder.selfCheck()).then(console.log);\n"
    )
    assert float(run("node", script, cwd=project).splitlines()[0]) < 1e-5


def test_it_is_a_workspace(every_feed: Path, tmp_path: Path) -> None:
    """Another workspace imports it by name, and its file: URL opens the model beside it."""
    write("node", tmp_path / "clients/node", every_feed)
    (tmp_path / "app").mkdir()
    (tmp_path / "package.json").write_text('{"private": true, "workspaces": ["clients/*", "app"]}')
    settings = {"name": "app", "type": "module", "dependencies": {"every-feed": "*"}}
    (tmp_path / "app/package.json").write_text(json.dumps(settings))
    (tmp_path / "app/m.onnx").symlink_to(every_feed)
    (tmp_path / "app/app.js").write_text(
        'import { Embedder } from "every-feed";\n'
        'const embedder = await Embedder.open(new URL("./m.onnx", import.meta.url));\n'
        "console.log(await embedder.selfCheck());\n"
    )
    run("npm", "install", "--omit=dev", cwd=tmp_path, ONNXRUNTIME_NODE_INSTALL="skip")
    assert float(run("node", "app/app.js", cwd=tmp_path)) < 1e-5


TYPED = """
import { Embedder, type PromptOptions, type Vector } from "every-feed";
import { EmbedderError, InvalidTextError } from "every-feed";
import { each } from "every-feed/bulk";
import { checkProducts } from "every-feed/cuda";
const options: PromptOptions = { prompt: "query" };
export async function main(signal: AbortSignal): Promise<number> {
  await checkProducts(new URL("file:///m.onnx"));
  await using embedder = await Embedder.open("m.onnx", { threads: 1 });
  const vectors: Float32Array[] = await embedder.embed(new Array("a").values(), options);
  const vector: Vector = await embedder.embedQuery("a");
  async function* texts(): AsyncGenerator<string> {
    yield "a";
  }
  const embed = (window: string[]) => embedder.embed(window);
  for await (const one of each([embed, embed], texts(), { signal })) one satisfies Vector;
  try {
    await embedder.embedIds([[1], new BigInt64Array(1)], {});
  } catch (error) {
    if (error instanceof InvalidTextError) return error.index;
    if (error instanceof EmbedderError) throw error;
  }
  // @ts-expect-error a string is no list of texts
  await embedder.embed("a");
  // @ts-expect-error there is no such option
  await embedder.embed(["a"], { promt: "query" });
  // @ts-expect-error it is opened, not made
  new Embedder();
  return vectors.length + vector.length;
}
"""


@pytest.mark.parametrize(
    "options",
    [
        "--module nodenext --types node",
        "--module nodenext --lib es2022",
        "--module esnext --moduleResolution bundler --lib es2022",
    ],
)
def test_its_types_reach_users(project: Path, options: str) -> None:
    """A strict project compiles, with and without Node's own types; declarations are checked."""
    (project / "typed.ts").write_text(TYPED)
    tsc = project / "node_modules/.bin/tsc"
    strict = ("--strict", "--target", "es2022", "--noEmit", "--skipLibCheck", "false")
    run(tsc, *strict, *options.split(), "typed.ts", cwd=project)


def test_nothing_leaves_the_machine(client: Path, every_feed: Path, tmp_path: Path) -> None:
    """A fresh home stays empty, and no name is looked up."""
    home = tmp_path / "home"
    script = 'await embedder.embed(["a"]); await embedder.close();'
    silently = partial(run_silently, home)
    evaluate(script, cwd=tmp_path, client=client, model=every_feed, run=silently)
    assert list(home.iterdir()) == []


@pytest.mark.minilm
def test_the_main_thread_is_free(client: Path, baked_minilm: Path, tmp_path: Path) -> None:
    """A thousand texts cost the main thread a small part of what they cost."""
    folder = with_packages_of(client, write("node", tmp_path / "client", baked_minilm))
    script = """
    import { readFileSync } from "node:fs";
    const spent = () => Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[0]);
    const texts = Array.from({ length: 1000 }, (_, index) => `text ${index}`);
    await embedder.embed(texts.slice(0, 10));
    const [before, all] = [spent(), process.cpuUsage()];
    await embedder.embed(texts);
    const [own, { user, system }] = [spent() - before, process.cpuUsage(all)];
    console.log(own / (1000 * (user + system)));
    """
    assert float(evaluate(script, cwd=folder, client=folder, model=baked_minilm)) < 0.1


@pytest.mark.minilm
def test_a_process_ends_while_a_thread_runs(
    client: Path, baked_minilm: Path, tmp_path: Path
) -> None:
    """Whatever the thread is about, opening, tokenising or running: there is no abort."""
    folder = with_packages_of(client, write("node", tmp_path / "client", baked_minilm))
    for delay in range(20, 500, 60):
        script = f"""
        const texts = Array.from({{ length: 3000 }}, (_, index) => `text number ${{index}}`);
        setTimeout(() => process.exit(0), {delay});
        const other = await Embedder.open(process.env.MODEL);
        for (;;) await other.embed(texts);
        """
        evaluate(script, cwd=folder, client=folder, model=baked_minilm)


@pytest.mark.minilm
def test_close_gives_memory_back(client: Path, baked_minilm: Path, tmp_path: Path) -> None:
    """Ten embedders, one after the other, leave what one leaves."""
    folder = with_packages_of(client, write("node", tmp_path / "client", baked_minilm))
    script = """
    import { readFileSync } from "node:fs";
    const left = [];
    for (let turn = 0; turn < 10; turn++) {
      const embedder = await Embedder.open(process.env.MODEL);
      await embedder.embed(["a", "b c"]);
      await embedder.close();
      left.push(Number(/VmRSS:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]));
    }
    console.log(JSON.stringify(left));
    """
    settings = {"cwd": folder, "client": folder, "model": baked_minilm}
    printed = evaluate("await embedder.close();" + script, **settings, **RETURNS_MEMORY)
    left = json.loads(printed)
    assert left[9] < 1.3 * left[0]


def test_a_process_ends_with_an_open_embedder(client: Path, every_feed: Path) -> None:
    """Who forgets close, or leaves by process.exit between runs, gets no abort."""
    for end in ("", "process.exit(0);"):
        script = f'await embedder.embed(["a"]); {end}'
        evaluate(script, cwd=client, client=client, model=every_feed)


def test_a_worker_ends_in_the_safe_order(client: Path, every_feed: Path, tmp_path: Path) -> None:
    """A message, close, then the end, in the midst of a call."""
    worker = tmp_path / "worker.mjs"
    worker.write_text(
        'import { parentPort } from "node:worker_threads";'
        + OPEN
        + """
        const call = embedder.embed(Array.from({ length: 5000 }, (_, i) => `text ${i}`));
        parentPort.once("message", async () => {
          await embedder.close();
          parentPort.postMessage((await call).length);
        });
        parentPort.postMessage("started");
        """
    )
    script = f"""
    import {{ once }} from "node:events";
    import {{ Worker }} from "node:worker_threads";
    const worker = new Worker({json.dumps(str(worker))}, {{ execArgv: [] }});
    await once(worker, "message");
    worker.postMessage("stop");
    const [vectors] = await once(worker, "message");
    await worker.terminate();
    console.log(vectors);
    """
    assert evaluate(script, cwd=client, client=client, model=every_feed) == "5000\n"
