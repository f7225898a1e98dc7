"""Recipes made runnable: what to write before a program's arguments, in each language.

A project is a folder with the generated ``clients`` and the ``recipes`` as they stand.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import polybake
from models.files.search_model import write_search_model
from support.clients.rendered import run

RECIPES = Path(__file__).resolve().parents[3] / "recipes"

#: The name of the model in every recipe, which imports that model's client.
MODEL = "all-minilm-l6-v2.onnx"

#: A build server would outlive the tests and hold their pipes open.
NO_SERVERS = {
    "DOTNET_CLI_USE_MSBUILD_SERVER": "0",
    "MSBUILDDISABLENODEREUSE": "1",
    "UseSharedCompilation": "false",
}

GEMFILE = """\
source "https://rubygems.org"
gem "all_minilm_l6_v2", path: "clients/ruby"
"""


def write_project(folder: Path, *languages: str) -> Path:
    """A tiny model of the name that recipes use, its clients, and the recipes."""
    write_search_model(folder / MODEL, hidden_size=384, num_attention_heads=12)
    polybake.generate(folder / MODEL, folder / "clients", languages=languages)
    shutil.copytree(RECIPES, folder / "recipes")
    return folder


def call(project: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a program, whatever its exit code."""
    bundle = {"BUNDLE_GEMFILE": str(project / "Gemfile"), "BUNDLE_PATH": str(project / "gems")}
    return subprocess.run(
        command, cwd=project, capture_output=True, encoding="utf-8", check=False,
        env=os.environ | NO_SERVERS | bundle | {"LANG": "C.UTF-8"},
    )  # fmt: skip


def python(project: Path, program: str) -> list[str]:
    """The command of a Python program, with this environment's packages."""
    return ["env", f"PYTHONPATH={project / 'clients/python/src'}", sys.executable, program]


def node(project: Path, program: str, *packages: str) -> list[str]:
    """The command of a Node program, with packages of the registry installed."""
    (project / "package.json").write_text('{"private": true, "type": "module"}')
    install = ("npm", "install", "--no-audit", "--no-fund", "./clients/node")
    run(*install, *packages, cwd=project, ONNXRUNTIME_NODE_INSTALL="skip")
    return ["node", program]


def ruby(project: Path, program: str, *gems: str) -> list[str]:
    """The command of a Ruby program, with gems; a visible skip if they cannot be had."""
    lines = [f'gem "{gem}"\n' for gem in gems]
    (project / "Gemfile").write_text(GEMFILE + "".join(lines))
    done = call(project, "bundle", "install", "--quiet")
    if "Could not find gem" in done.stderr:
        pytest.skip(f"the source of gems lacks one of: {', '.join(gems)}")
    assert done.returncode == 0, done.stdout + done.stderr
    return ["bundle", "exec", "ruby", "-w", program]


def csharp(project: Path, program: str) -> list[str]:
    """The command of a built C# program; a visible skip if its packages cannot be had."""
    built = project / "built" / program
    done = call(project, "dotnet", "build", program, "--output", built)
    if "error NU1101" in done.stdout:  # NuGet: unable to find package
        pytest.skip(f"no source of packages has all that {program} names")
    assert done.returncode == 0, done.stdout + done.stderr
    return ["dotnet", str(built / f"{Path(program).stem}.dll")]
