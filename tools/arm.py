"""Judge clients on ARM under QEMU: ``python tools/arm.py FOLDER MODELS [MINILM…]``, a row each.

MODELS is a folder that `support.arm_models` wrote. Its models are small, and each client of
`JUDGED` takes them through every stage of `polybake verify`. MINILM are files that the Python
client checks itself with, which takes every golden case once: a whole run would take an hour.

Rows are Markdown, and printed as they end. The exit code is 1 where a client that can be run is not
verified. What cannot be had is a line that begins with SKIP.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from arm_machine import Machine, Refusal, prepared
from matrix import show
from polybake.base.modelfile.container import read_head

#: An older processor, and one with all that QEMU has: SVE, int8 products, bfloat16.
PLAIN, LATEST = "neoverse-n1", "max"
#: What the others get beside Python, and the newer processor.
FEW = ("every-feed.onnx", "small-bert-*.onnx")
#: By language and processor, patterns of the names of models. Those that are to be built are
#: first, as they take longest.
JUDGED = (
    ("rust", PLAIN, FEW),
    ("go", PLAIN, FEW),
    ("java", PLAIN, FEW),
    ("node", PLAIN, FEW),
    ("python", LATEST, FEW),
    ("python", PLAIN, ("*.onnx",)),
)
#: Where products are summed in float16: docs/tolerances.md.
KNOWN = ("small-bert-float16", PLAIN)
#: What a known difference may be, in limits, and the stages that it shows in.
FAR, SHOWS = 3.0, {"embed", "embed_ids", "batches", "self_check"}
#: ONNX Runtime 1.29.0, which the Java client has, cannot open float16 on ARM; on x86-64 it can.
NO_KERNEL = "Failed to find kernel for com.microsoft.Gelu"
#: Seconds for an answer, of which an emulator needs more.
TIMEOUT = 240
#: Clients at a time.
SIDE_BY_SIDE = 2
TITLES = ("client", "runtime", "tokenizer", "processor", "model", "verdict", "seconds")


@dataclass(frozen=True)
class Row:
    """A client on a processor, with the models that share it, each by its file."""

    language: str
    processor: str
    models: tuple[Path, ...]


def rows(models: Path) -> Iterator[Row]:
    """What is judged, of the models in a folder.

    Raises:
        FileNotFoundError: No model has a name that is asked for.
    """
    for language, processor, patterns in JUDGED:
        clients: dict[str, list[Path]] = {}
        for pattern in patterns:
            files = sorted(models.glob(pattern))
            if not files:
                raise FileNotFoundError(f"{models}: no {pattern}; write them with: nox -s arm")
            for file in files:
                manifest = read_head(file).manifest
                clients.setdefault(manifest.name + manifest.contract.digest, []).append(file)
        yield from (Row(language, processor, tuple(files)) for files in clients.values())


def polybake(*words: str) -> subprocess.CompletedProcess[str]:
    """Run polybake, without a language that the environment requires."""
    command = [sys.executable, "-m", "polybake.cli.main", *words]
    own = os.environ | {"POLYBAKE_REQUIRE": ""}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=own)  # noqa: S603


def client_of(machine: Machine, row: Row) -> tuple[Path, dict[str, Any]]:
    """Generate a client whose harness runs on the machine; its folder, and its harness.json."""
    clients = machine.folder / "clients" / f"{row.models[0].stem}-{row.processor}-{row.language}"
    words = ["--clients", str(clients), "--language", row.language, "--force"]
    done = polybake("generate", str(row.models[0]), *words)
    if done.returncode:
        raise RuntimeError(f"generate {row.models[0]}: {done.stderr.strip()}")
    harness = machine.harness(row.language, row.processor)
    client = clients / row.language
    (client / "harness.json").write_text(json.dumps(harness), encoding="utf-8")
    return client, harness


def judge(machine: Machine, row: Row) -> bool:
    """Let `polybake verify` judge the models of a row; whether all are as expected."""
    client, _ = client_of(machine, row)
    options = ["--clients", str(client), "--language", row.language, "--json"]
    passed = True
    for number, model in enumerate(row.models):
        begin = time.monotonic()
        prepare = [] if number else ["--prepare"]
        done = polybake("verify", str(model), *options, "--timeout", str(TIMEOUT), *prepare)
        try:
            versions, verdict = summary(
                json.loads(done.stdout), known=(model.stem, row.processor) == KNOWN
            )
        except ValueError:  # no report
            versions, verdict = {}, f"FAIL {done.stderr.strip()[-200:]}"
        passed = passed and not verdict.startswith("FAIL")
        parts = ("language_version", "runtime_version", "tokenizer_version")
        values = [row.language, *(versions.get(part, "") for part in parts)]
        cells = [" ".join(values[:2]), *values[2:], row.processor, model.stem, verdict]
        show(f"| {' | '.join(cells)} | {time.monotonic() - begin:.0f} |")
    return passed


def summary(report: dict[str, Any], *, known: bool) -> tuple[dict[str, str], str]:
    """What a client says of its versions; its verdict, with the largest difference.

    Args:
        report: What `polybake verify --json` printed of one client.
        known: Whether its differences may be above the limit.
    """
    versions = report["runs"][0]["versions"] or {}
    verdicts, differences = report["verdicts"], report["runs"][0]["differences"]
    largest = max((each["difference"] or 0 for each in verdicts), default=0)
    if not report["exit_code"]:
        return versions, f"PASS {largest:.1e}"
    lost = [each for each in verdicts if each["status"] not in ("pass", "skip-capability")]
    limit = max((each["limit"] or 0 for each in differences), default=0)
    if known and {each["stage"] for each in lost} <= SHOWS and largest <= FAR * limit:
        return versions, f"KNOWN {largest:.1e} of {limit:.1e}"
    if known and NO_KERNEL in lost[0]["message"]:
        return versions, f"KNOWN not opened: {NO_KERNEL}"
    if report["exit_code"] == 3:
        return versions, f"SKIP {lost[0]['message']}"
    reasons = [f"{each['case']} {each['stage']}: {each['message']}" for each in lost]
    return versions, f"FAIL {largest:.1e} of {limit:.1e}; {reasons[0][:200]}"


def check_itself(machine: Machine, model: Path) -> bool:
    """Let the Python client take every golden case of a file once; whether it agrees."""
    row, begin = Row("python", PLAIN, (model,)), time.monotonic()
    client, harness = client_of(machine, row)
    (package,) = (path.parent.name for path in client.glob("src/*/__init__.py"))
    code = f"from {package} import Embedder; print(Embedder({str(model)!r}).self_check())"
    done = subprocess.run(  # noqa: S603 - our own command
        [*harness["run"][:-1], "-c", code],
        cwd=client,
        env=os.environ | harness["environment"],
        capture_output=True,
        text=True,
        check=False,
    )
    reason = done.stderr.strip().splitlines()[-1:]
    verdict = f"FAIL {''.join(reason)}" if done.returncode else f"PASS {float(done.stdout):.1e}"
    cells = ["python, its self-check", "", "", row.processor, model.stem, verdict]
    show(f"| {' | '.join(cells)} | {time.monotonic() - begin:.0f} |")
    return not done.returncode


def main(words: Sequence[str]) -> int:
    """Print the table; return the exit code, which is 0 where nothing can be run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("models", type=Path)
    parser.add_argument("minilm", type=lambda word: Path(word).absolute(), nargs="*")
    arguments = parser.parse_args(words)
    every = list(rows(arguments.models.absolute()))
    try:
        machine = prepared(arguments.folder.absolute())
    except Refusal as refusal:
        show(f"SKIP arm: {refusal}")
        return 0
    for language, reason in machine.without.items():
        show(f"SKIP {language}: {reason}")
    show(f"| {' | '.join(TITLES)} |\n|{'---|' * len(TITLES)}")
    tasks: list[Callable[[], bool]] = [
        partial(check_itself, machine, model) for model in arguments.minilm
    ]
    tasks += [partial(judge, machine, row) for row in every if row.language not in machine.without]
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        passed = list(pool.map(lambda task: task(), tasks))
    return int(not all(passed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
