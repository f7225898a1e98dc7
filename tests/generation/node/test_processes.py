"""Threads, memory, and the end of the processes that run the Node client."""

import json
from pathlib import Path

import pytest

from support.clients.npm import Another
from support.clients.rendered import RETURNS_MEMORY, run

pytestmark = pytest.mark.node

#: Opens the model of MODEL by the client in SOURCE.
OPEN = """
const { Embedder } = await import(process.env.SOURCE);
const embedder = await Embedder.open(process.env.MODEL);
"""


def evaluate(script: str, client: Path, model: Path, **environment: str) -> str:
    """Run a module in the client's folder; what it prints."""
    command = ("node", "--input-type=module", "--eval", OPEN + script)
    source = (client / "src/index.js").as_uri()
    return run(*command, cwd=client, SOURCE=source, MODEL=str(model), **environment)


@pytest.mark.minilm
def test_the_main_thread_is_free(another: Another, baked_minilm: Path) -> None:
    """A thousand texts cost the main thread a small part of what they cost."""
    folder = another(baked_minilm)
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
    assert float(evaluate(script, folder, baked_minilm)) < 0.1


@pytest.mark.minilm
def test_a_process_ends_while_a_thread_runs(another: Another, baked_minilm: Path) -> None:
    """Whatever the thread is about, opening, tokenising or running: there is no abort."""
    folder = another(baked_minilm)
    for delay in range(20, 500, 60):
        script = f"""
        const texts = Array.from({{ length: 3000 }}, (_, index) => `text number ${{index}}`);
        setTimeout(() => process.exit(0), {delay});
        const other = await Embedder.open(process.env.MODEL);
        for (;;) await other.embed(texts);
        """
        evaluate(script, folder, baked_minilm)


@pytest.mark.minilm
def test_close_gives_memory_back(another: Another, baked_minilm: Path) -> None:
    """Ten embedders, one after the other, leave what one leaves."""
    folder = another(baked_minilm)
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
    script = "await embedder.close();" + script
    left = json.loads(evaluate(script, folder, baked_minilm, **RETURNS_MEMORY))
    assert left[9] < 1.3 * left[0]


def test_a_process_ends_with_an_open_embedder(client: Path, every_feed: Path) -> None:
    """Who forgets close, or leaves by process.exit between runs, gets no abort."""
    for end in ("", "process.exit(0);"):
        script = f'await embedder.embed(["a"]); {end}'
        evaluate(script, client, every_feed)


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
    assert evaluate(script, client, every_feed) == "5000\n"
