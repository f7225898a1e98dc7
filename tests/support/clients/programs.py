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
from support.clients.dotnet import NO_SERVERS
from support.clients.java import COPY
from support.clients.rendered import attempt, onnxruntime, run

RECIPES = Path(__file__).resolve().parents[3] / "recipes"

#: The name of the model in every recipe, which imports that model's client.
MODEL = "all-minilm-l6-v2.onnx"

GEMFILE = """\
source "https://rubygems.org"
gem "all_minilm_l6_v2", path: "clients/ruby"
"""

POM = """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>project</groupId>
  <artifactId>project</artifactId>
  <version>1</version>
  <dependencies>{}</dependencies>
</project>
"""

PACKAGE = """
    <dependency>
      <groupId>{}</groupId>
      <artifactId>{}</artifactId>
      <version>{}</version>
      <type>{}</type>
    </dependency>"""

GO_MODULE = """\
module project

go 1.25.0

require all-minilm-l6-v2 v0.0.0

replace all-minilm-l6-v2 => ./clients/go
"""

CRATE = """\
[package]
name = "project"
version = "0.1.0"
edition = "2024"

[[bin]]
name = "program"
path = "{program}"

[dependencies]
all-minilm-l6-v2 = {{ path = "clients/rust" }}
{crates}
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
    return attempt(*command, cwd=project, LANG="C.UTF-8", **NO_SERVERS, **bundle)


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


def java(project: Path, program: str, *packages: str) -> list[str]:
    """The command of a compiled Java program, with packages ``group:name:version:type``."""
    named = "".join(PACKAGE.format(*package.split(":")) for package in packages)
    (project / "pom.xml").write_text(POM.format(named))
    for pom in ("pom.xml", "clients/java/pom.xml"):
        options = ("-DincludeScope=runtime", f"-DoutputDirectory={project}/packages")
        run("mvn", "-q", "-B", COPY, "-f", pom, *options, cwd=project)
    client, built = project / "clients/java/src/main/java", project / "built/java"
    packages = f"{project}/packages/*"
    sources = [*client.rglob("*.java"), project / program]
    options = ("-proc:none", "-Xlint:all", "-Werror", "-cp", packages)
    run("javac", *options, "-d", built, *sources, cwd=project)
    places = os.pathsep.join([packages, str(built)])
    return ["java", "-cp", places, Path(program).stem]


def go(project: Path, program: str) -> list[str]:
    """The command of a built Go program, whose imports say its packages."""
    (project / "go.mod").write_text(GO_MODULE)
    run("go", "mod", "tidy", cwd=project)
    run("go", "vet", program, cwd=project)
    run("go", "build", "-p=1", "-o", "built/go", program, cwd=project)
    return ["env", f"ONNXRUNTIME_LIBRARY_PATH={onnxruntime()}", "built/go"]


def rust(project: Path, program: str, *crates: str) -> list[str]:
    """The command of a built Rust program, with crates as lines of Cargo.toml."""
    text = CRATE.format(program=program, crates="\n".join(crates))
    (project / "Cargo.toml").write_text(text)
    # In what other tests share, Cargo would take a client of the same name for this one.
    own = {"CARGO_BUILD_BUILD_DIR": str(project / "built/crates")}
    run("cargo", "build", "--quiet", "--target-dir", "built", cwd=project, **own)
    return ["env", f"ORT_DYLIB_PATH={onnxruntime()}", "built/debug/program"]
