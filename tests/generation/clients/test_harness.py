"""The harness of each language: the protocol, damaged files, and what a machine lacks."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from generation.clients.conftest import only
from support.clients.conversation import ask, check_protocol, lines, start
from support.clients.rendered import MINILM, run
from support.clients.toolchain import Toolchain

SECONDS = 60.0

#: The remedy in the error of CUDA, where a language has one of its own.
CUDA = {
    "browser": 'unknown device "cuda"; choose one of: cpu',
    "go": "name the GPU build of ONNX Runtime",
    "rust": "let ORT_DYLIB_PATH name ONNX Runtime's GPU build",
}

#: (language, what its harness is told, the error's kind, what it begins and ends with), where a
#: runtime or the room for a file is not there.
MISSING = [
    (
        "go",
        {"ONNXRUNTIME_LIBRARY_PATH": "/no/libonnxruntime.so"},
        "device",
        "ONNX Runtime cannot be loaded (",
        "name the library of version 1.24 or newer",
    ),
    *(
        (
            "rust",
            {"ORT_DYLIB_PATH": library},
            "device",
            f"{library} cannot be loaded (",
            "1.24 or newer is needed; name its library by ORT_DYLIB_PATH or in the options",
        )
        for library in ("/no such library", str(MINILM))
    ),
]


def test_it_speaks_the_protocol(toolchain: Toolchain, client: Path, every_feed: Path) -> None:
    """One answer a line, ASCII only, also for a text that readers of JSON refuse or mend."""
    language = toolchain.language
    cuda, started = check_protocol(client, every_feed, language)
    assert CUDA.get(language, "") in cuda["message"]
    for name in ("language_version", "runtime_version", "tokenizer_version"):
        assert re.match(r"v?\d+\.\d+", started["results"]["client"][name])


@pytest.mark.parametrize("language", only("node"), indirect=True)
def test_a_provider_is_proven(client: Path, every_feed: Path) -> None:
    """Node says how it knows the provider, and refuses a device that ONNX Runtime lacks."""
    given, device = ask(client, start(every_feed), start(every_feed, "tpu"))
    assert given["results"]["provider"] == {
        "requested": "cpu",
        "active": "CPUExecutionProvider",
        "proven_by": "append",
    }
    assert device["kind"] == "device"


@pytest.mark.parametrize(
    ("language", "told", "error", "begins", "ends"), only(*MISSING), indirect=["language"]
)
def test_what_is_missing_is_named(
    client: Path, every_feed: Path, told: dict[str, str], error: str, begins: str, ends: str
) -> None:
    """The error says what is missing, and what names it."""
    answer: dict[str, Any]
    (answer,) = ask(client, start(every_feed), **told)
    assert answer["kind"] == error
    assert answer["message"].startswith(begins)
    assert answer["message"].endswith(ends)


@pytest.mark.parametrize("language", only("browser"), indirect=True)
def test_a_path_with_every_sign(client: Path, tmp_path: Path) -> None:
    """What an address would have to escape is what a page's error names."""
    path = tmp_path / 'a "h\u00e9ad" % # $& ?.onnx'
    (answer,) = ask(client, start(path))
    remedy = "give the address of a baked .onnx file"
    assert answer["message"] == f"{path}: cannot be read (404 Not Found); {remedy}"


@pytest.mark.parametrize("language", only("browser"), indirect=True)
def test_a_machine_without_chromium(client: Path, every_feed: Path, tmp_path: Path) -> None:
    """The error names what is looked for, and what to set."""
    (tmp_path / "node").symlink_to(run("which", "node", cwd=client).strip())
    done = subprocess.run(
        [tmp_path / "node", "harness/harness.js"],
        cwd=client,
        env={"PATH": os.fspath(tmp_path)},
        input=lines([start(every_feed)]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "no Chromium on PATH (chromium, " in done.stderr
    assert "set CHROME_PATH" in done.stderr
