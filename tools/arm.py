"""Judge clients on ARM under QEMU: ``python tools/arm.py FOLDER MODELS [MINILM…]``, a row each.

MODELS is a folder that `support.arm_models` wrote. Its models are small, and each client of
`JUDGED` takes them through every stage of `polybake verify`. MINILM are files of one contract that
the Python client checks itself with, once, as a whole run would take an hour. Rows are Markdown,
and printed as they end. The exit code is 1 where a client that can be run is not verified.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arm_machine import Machine, Refusal, prepared
from matrix import show

#: An older processor, and one with all that QEMU has: SVE, int8 products, bfloat16.
PLAIN, LATEST = "neoverse-n1", "max"
#: What languages beside Python get, which are to be built.
FEW = ("every-feed.onnx", "small-bert-*.onnx")
#: By language and processor, patterns of the names of models.
JUDGED = (
    ("python", PLAIN, ("*.onnx",)),
    ("python", LATEST, FEW),
    ("node", PLAIN, FEW),
    ("java", PLAIN, FEW),
    ("go", PLAIN, FEW),
    ("rust", PLAIN, FEW),
)
#: Where ARM rounds otherwise than what the limit was measured with: docs/tolerances.md.
KNOWN = ("small-bert-float16",)
#: Seconds for an answer, of which an emulator needs more.
TIMEOUT = 240
#: Clients at a time.
SIDE_BY_SIDE = 2


@dataclass(frozen=True)
class Row:
    """A client on a processor, with the models that share the client."""

    language: str
    processor: str
    models: tuple[Path, ...]


def rows(models: Path) -> Iterator[Row]:
    """What is judged, of the models in a folder.

    Raises:
        FileNotFoundError: No model has a name that is asked for.
    """
    for language, processor, names in JUDGED:
        chosen: dict[str, list[Path]] = {}
        for name in names:
            files = sorted(models.glob(name))
            if not files:
                raise FileNotFoundError(f"{models}: no model {name}; write them with: nox -s arm")
            for file in files:
                shared = "small-bert" if file.stem.startswith("small-bert") else file.stem
                chosen.setdefault(shared, []).append(file)
        yield from (Row(language, processor, tuple(files)) for files in chosen.values())


def polybake(*words: str) -> subprocess.CompletedProcess[str]:
    """Run polybake, without a language that the environment requires."""
    command = [sys.executable, "-m", "polybake.cli.main", *words]
    own = os.environ | {"POLYBAKE_REQUIRE": ""}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=own)  # noqa: S603


def judge(machine: Machine, row: Row) -> bool:
    """Print a line for each model of a row; whether all are as expected."""
    named = row.models[0].stem if len(row.models) == 1 else "small-bert"
    clients = machine.folder / "clients" / f"{named}-{row.processor}-{row.language}"
    first, chosen = str(row.models[0]), ["--clients", str(clients), "--language", row.language]
    polybake("generate", first, *chosen, "--force")
    harness = machine.harness(row.language, row.processor)
    (clients / row.language / "harness.json").write_text(json.dumps(harness), encoding="utf-8")
    fine = True
    for number, model in enumerate(row.models):
        begin = time.monotonic()
        prepare = [] if number else ["--prepare"]
        asked = ["verify", str(model), *chosen, "--json", "--timeout", str(TIMEOUT), *prepare]
        done = polybake(*asked)
        versions, verdict = summary(done, model.stem)
        fine = fine and not verdict.startswith("FAIL")
        client = f"{row.language} {versions.get('language_version', '')}"
        cells = [client, *(versions.get(f"{part}_version", "") for part in ("runtime", "tokenizer"))]
        cells += [row.processor, model.stem, verdict, f"{time.monotonic() - begin:.0f}"]
        show(f"| {' | '.join(cells)} |")
    return fine


def summary(done: subprocess.CompletedProcess[str], model: str) -> tuple[dict[str, str], str]:
    """What a client says of its versions, and the verdict with the largest difference."""
    try:
        report: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        return {}, f"FAIL {done.stderr.strip()[-200:]}"
    ran = report["runs"][0]
    lost = [one for one in report["verdicts"] if one["status"] not in ("pass", "skip-capability")]
    differences = [one["difference"] for one in report["verdicts"] if one["difference"] is not None]
    largest = f"{max(differences, default=0):.1e}"
    if not report["exit_code"]:
        return ran["versions"] or {}, f"PASS {largest}"
    said = f"{largest}: {lost[0]['case']} {lost[0]['stage']}: {lost[0]['message'][:200]}"
    expected = model in KNOWN and {one["status"] for one in lost} == {"fail"}
    return ran["versions"] or {}, f"{'KNOWN' if expected else 'FAIL'} {said}"


def main(given: Sequence[str]) -> int:
    """Print the table; return the exit code, 0 with a line where there is no emulator."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("models", type=Path)
    parser.add_argument("minilm", type=Path, nargs="*")
    asked = parser.parse_args(given)
    todo = list(rows(asked.models))
    try:
        machine = prepared(asked.folder.absolute())
    except Refusal as refusal:
        show(f"SKIP arm: {refusal}")
        return 0
    for language, reason in machine.without.items():
        show(f"SKIP {language}: {reason}")
    show(f"| {' | '.join(TITLES)} |\n|{'---|' * len(TITLES)}")
    todo = [row for row in todo if row.language not in machine.without]
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        fine = [*pool.map(lambda row: judge(machine, row), todo)]
    return int(not all(fine))


TITLES = ("client", "runtime", "tokenizer", "processor", "model", "verdict", "seconds")

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
