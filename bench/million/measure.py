"""Memory of each client that embeds a stream of a million texts.

Usage: python bench/million/measure.py MODEL.onnx CLIENTS_FOLDER [TEXTS]

The clients are prepared, as by ``polybake verify --prepare``. A row has the megabytes of the
process after a tenth of the texts and after all of them, and texts a second. Use a tiny model,
baked with ``--name all-minilm-l6-v2``, which the programs here name.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent.resolve()
LANGUAGES = ("python", "node", "ruby", "csharp", "java", "go", "rust")


def commands(client: Path, folder: Path) -> dict[str, list[str]]:
    """What runs each language's program, in its client's folder; ``folder`` is empty."""

    def library(pattern: str) -> str:
        return str(next(iter(client.glob(pattern)), ""))

    for name in ("million.cs", "million.rs", "Cargo.toml"):
        text = (HERE / name).read_text("utf-8").replace("CLIENT", str(client))
        (folder / name).write_text(text, "utf-8")
    onnxruntime = "onnxruntime/capi/libonnxruntime.so.*"
    go = f"ONNXRUNTIME_LIBRARY_PATH={library(f'.venv/lib/python*/site-packages/{onnxruntime}')}"
    rust = f"ORT_DYLIB_PATH={library(f'.onnxruntime/{onnxruntime}')}"
    cargo = ["--target-dir", str(client / "target"), "--manifest-path", str(folder / "Cargo.toml")]
    return {
        "python": [str(client / ".venv/bin/python"), str(HERE / "million.py")],
        # It imports from the client's folder, as a program that stands there.
        "node": ["node", "--input-type=module", "--eval", (HERE / "million.js").read_text("utf-8")],
        "ruby": ["bundle", "exec", "ruby", "-Ilib", str(HERE / "million.rb")],
        "csharp": ["dotnet", "run", "--configuration", "Release", str(folder / "million.cs")],
        "java": ["java", "-cp", "target/client-harness.jar", str(HERE / "Million.java")],
        "go": ["env", go, "go", "run", str(HERE / "million.go")],
        "rust": ["env", rust, "cargo", "run", "--quiet", "--release", *cargo, "--"],
    }


def main(model: Path, clients: Path, count: int) -> None:
    """Print a row for each language."""
    for client in (clients.resolve() / name for name in LANGUAGES):
        environment = json.loads((client / "harness.json").read_text("utf-8"))["environment"]
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run(
                [*commands(client, Path(folder))[client.name], str(model.resolve()), str(count)],
                cwd=client,
                env=os.environ | environment,
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
        (early, _), (late, seconds) = (line.split() for line in ended.stdout.splitlines())
        rate = f"{count / float(seconds):,.0f} texts/s"
        print(f"{client.name:<7} {early:>5} MB {late:>5} MB {rate:>16}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if sys.argv[3:] else 1_000_000)
