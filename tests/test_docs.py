"""Every code block of README, docs/ and examples/ is run, parsed or compared with the product."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
from collections import ChainMap
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from textwrap import indent

import numpy as np
import pytest
import yaml
from safetensors.numpy import save_file

from models.files.search_model import write_search_model
from models.files.task_models import TASK_MODELS
from models.folders.tiny_folders import CONFIG, write_bert, write_sentence_transformers
from models.formulas.network_numpy import draw, linear_shapes
from polybake.base.modelfile.container import read_head
from polybake.config import load_config
from polybake.generation import LANGUAGES, render_client
from polybake.generation.languages import DEFAULT_LANGUAGES
from polybake.verification.harness import protocol
from polybake.verification.harness.harness_file import HarnessFile
from support.hub.hub_cache import write_cache
from support.oracle.support_table import parse
from support.processes.commandline import polybake
from support.servers.served import served

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).resolve().parents[1]
EXAMPLES = REPOSITORY / "examples"
#: Pages whose commands need those before them: tests/test_docs_in_order.py.
IN_ORDER = [REPOSITORY / "docs" / name for name in ("tutorial.md", "store.md")]
PAGES = [
    REPOSITORY / "README.md",
    *sorted((REPOSITORY / "docs").glob("*.md")),
    EXAMPLES / "README.md",
]

#: What docs/tasks.md calls the model of each task.
TASK_NAMES = {
    "classify": "moods",
    "classify-pairs": "claims",
    "rerank": "ranker",
    "zero-shot": "topics",
    "tag": "names",
    "answer": "finder",
    "sparse": "splade",
    "multi-vector": "colbert",
    "hybrid": "m3",
}

#: Inputs and outputs of the layers in examples/mlp.py.
MLP = [(6, 16), (16, 8), (8, 3)]


def blocks() -> list[tuple[str, str, str]]:
    """(page and line, language, code) of every fenced block."""
    found = []
    for page in PAGES:
        if page in IN_ORDER:
            continue
        text = page.read_text(encoding="utf-8")
        for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            line = text.count("\n", 0, match.start()) + 1
            found.append((f"{page.name}:{line}", match[1], match[2]))
    return found


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's folder, with the files that the pages speak of and a tiny model of MiniLM's name."""
    folder = tmp_path_factory.mktemp("project")
    pooling = {"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True}
    model = folder / "models/all-MiniLM-L6-v2"
    write_sentence_transformers(model, ("Pooling", pooling), ("Normalize", {}))
    write_bert(model, CONFIG | {"hidden_size": 384, "num_attention_heads": 12})
    for source, commit in set(re.findall(r"hub:([\w./-]+)@([0-9a-f]{40})", PAGES[0].read_text())):
        write_cache(folder / "hub", source, model, commit)
    (folder / "examples").symlink_to(EXAMPLES)
    shapes = [linear_shapes(f"layers.{n}", *sizes) for n, sizes in enumerate(MLP)]
    save_file(draw(dict(ChainMap(*shapes))), folder / "mlp.safetensors")
    (folder / "fitted").mkdir()
    np.save(folder / "fitted" / "mean.npy", np.zeros(384, np.float32))
    for task, name in TASK_NAMES.items():
        TASK_MODELS[task](folder / f"{name}.onnx")
    (folder / "texts.txt").write_text("one text\nanother\n")
    return folder


def run_python(folder: Path, arguments: list[str]) -> None:
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def cached(project: Path, code: str) -> dict[str, str]:
    """The variables by which a command or a polybake.toml with a hub's model finds it here."""
    config = project / "polybake.toml"
    if "hub:" in code or (config.exists() and 'source = "hub:' in config.read_text()):
        return {"HF_HUB_CACHE": str(project / "hub"), "HF_HUB_OFFLINE": "1"}
    return {}


def run_shell(code: str, project: Path) -> None:
    """Run each command; what installs or needs a toolchain is checked by its words."""
    (project / "polybake.toml").unlink(missing_ok=True)
    for line in code.replace("\\\n", "").strip().splitlines():
        session = re.fullmatch(r"pip install nox && nox -s (\w+)", line)
        if session:
            assert f"def {session[1]}(session" in (REPOSITORY / "noxfile.py").read_text()
        elif line.startswith("pip install "):
            check_requirement(shlex.split(line)[2])
        elif line.startswith(("polybake serve ", "curl ")):
            run_service(shlex.split(line), project)
        elif line.startswith(("podman ", "docker ", "kubectl ", "mmdebstrap ", "python -m build ")):
            check_container_command(line)
        elif line.startswith("python "):
            run_python(project, shlex.split(line)[1:])
        else:
            words = shlex.split(line)
            assert words[0] == "polybake", line
            if words[1] == "verify":
                words += ["--language", "python"]
            if words[1] == "diagnose":  # vectors that differ in nothing
                own = ("embed", words[2], "texts.txt", "--output", "theirs.npy", "--force")
                polybake(*own, cwd=project)
            # So small a model loses neighbours to float16: its diff answers yes.
            answer = int(words[1] == "diff")
            polybake(*words[1:], cwd=project, code=answer, **cached(project, line))


def run_service(words: list[str], project: Path) -> None:
    """A service starts as it stands, at a free port, and answers what a page asks it."""
    import httpx

    model = project / "build/all-minilm-l6-v2.onnx"
    if not model.exists():
        bake = ["bake", "models/all-MiniLM-L6-v2", "--name", model.stem, "--output", str(model)]
        polybake(*bake, cwd=project)
    if words[0] == "polybake":
        assert project / words[2] == model
        with served(model, *words[5:] if words[3] == "--port" else words[3:]) as service:
            assert service.ended(signal.SIGTERM) == 0
        return
    _, url, *_, body = words
    with served(model) as service:
        path = url.partition("localhost:8080")[2]
        answer = httpx.post(service.url + path, json=json.loads(body))
        assert answer.status_code == 200, answer.text


def check_container_command(line: str) -> None:
    """Check that the files of deploy/ exist which it names; nox -s container runs the image."""
    for path in re.findall(r"\bdeploy(?:/[\w.]+)?", line):
        assert (REPOSITORY / path).exists(), line


def check_containerfile(code: str, project: Path) -> None:  # noqa: ARG001 - as above
    """Check that it extends the image of deploy/, which nox -s container builds."""
    assert code.startswith("FROM polybake-serve\n")


def check_requirement(requirement: str) -> None:
    """The package and the extras that a page tells people to install are this project's."""
    import tomllib

    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    name, _, extras = requirement.rstrip("]").partition("[")
    assert name == "."  # a checkout: the project's name is not registered anywhere
    assert set(filter(None, extras.split(","))) <= project["optional-dependencies"].keys()


def run_toml(code: str, project: Path) -> None:
    """A settings file bakes as it stands."""
    path = project / "polybake.toml"
    path.write_text(code, encoding="utf-8")
    load_config(path)
    if "default_prompt" not in code or "[prompts]" in code:
        verb = "build" if "fit = " in code else "bake"
        polybake(verb, cwd=project, **cached(project, code))


def run_json(code: str, project: Path) -> None:  # noqa: ARG001 - every runner takes the project
    """Parse an example of a file or a message, whose values may be shortened to three dots."""
    data = json.loads(code)
    if "run" in data:
        HarnessFile.model_validate_json(code)
    elif "capabilities" in data:
        protocol.Started.model_validate_json(code)
    elif "contract" in data:
        from polybake.base.modelfile.manifest import Manifest

        assert Manifest.model_validate(data).model_dump(mode="json").keys() == data.keys()
    else:
        from polybake.base.modelfile.fixture import Fixture

        Fixture.model_validate(data)


def run_yaml(code: str, project: Path) -> None:
    """Commands of a CI job exist, with these options; so do the action's inputs and the hook."""
    action = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))
    hooks = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    for step in yaml.safe_load(code):
        if "/polybake@" in step.get("uses", ""):
            assert step["with"].keys() <= action["inputs"].keys()
        assert {hook["id"] for hook in step.get("hooks", [])} <= {hook["id"] for hook in hooks}
        words = shlex.split(step.get("run", ""))
        if words[:1] == ["polybake"]:
            shown = polybake(words[1], "--help", cwd=project)
            assert all(word in shown for word in words if word.startswith("--"))


def readme(project: Path, task: str, language: str) -> str:
    """The README of a task's client in a language."""
    manifest = read_head(project / f"{TASK_NAMES[task]}.onnx").manifest
    return render_client(manifest, language).files["README.md"]


def compare_with_client(language: str) -> Callable[[str, Path], None]:
    """The three lines are those of the client's own README, which its tests run."""

    def compare(code: str, project: Path) -> None:
        readmes = [
            (REPOSITORY / "clients" / language / "README.md").read_text(encoding="utf-8"),
            *(readme(project, task, language) for task in TASK_NAMES),
        ]
        lines = [line for line in code.splitlines() if line][:2]
        assert any(all(line in readme for line in lines) for readme in readmes), lines

    return compare


def run_program(code: str, project: Path) -> None:
    """Python that calls polybake runs; Python that calls a client is compared with its README."""
    if re.search(r"polybake\.(ray|spark)", code):
        pytest.skip("the engine is missing: nox -s bulk runs it")
    if "polybake.testing" in code:
        return run_tests(code, project / "service")
    if "import polybake" not in code:
        return compare_with_client("python")(code, project)
    (project / "program.py").write_text(
        code.replace("prepare=True", 'prepare=True, languages=["python"]')
        + "\nassert report.exit_code() == 0 and vectors.shape == (1, 384)\n",
        encoding="utf-8",
    )
    run_python(project, ["program.py"])
    return None


def run_tests(code: str, folder: Path) -> None:
    """Run the tests of a service that is only a client of polybake."""
    (folder / "build").mkdir(parents=True)
    write_search_model(folder / "build/minilm.onnx")
    wrapper = "import polybake\nembed = polybake.Embedder('build/minilm.onnx').embed\n"
    (folder / "our_service.py").write_text(wrapper, encoding="utf-8")
    (folder / "test_service.py").write_text(code, encoding="utf-8")
    run_python(folder, ["-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(folder), "."])


def is_picture(code: str, project: Path) -> None:  # noqa: ARG001 - every runner takes the project
    """A drawing in text names only commands that exist."""
    assert "--" in code


RUNNERS: dict[str, Callable[[str, Path], None]] = {
    "sh": run_shell,
    "toml": run_toml,
    "json": run_json,
    "yaml": run_yaml,
    "text": is_picture,
    "dockerfile": check_containerfile,
    "python": run_program,
    "ts": compare_with_client("node"),
    "ruby": compare_with_client("ruby"),
    "csharp": compare_with_client("csharp"),
    "java": compare_with_client("java"),
    "go": compare_with_client("go"),
    "rust": compare_with_client("rust"),
}


def marks(place: str, code: str) -> list[pytest.MarkDecorator]:
    """At every change a README's blocks are run that install no packages."""
    often = place.startswith("README") and not re.search(r"prepare|pip install", code)
    return [] if often else [pytest.mark.weekly]


@pytest.mark.parametrize(
    ("language", "code"),
    [
        pytest.param(language, code, id=place, marks=marks(place, code))
        for place, language, code in blocks()
    ],
)
def test_a_code_block_works(language: str, code: str, project: Path) -> None:
    """Each block works; one in a language that nothing here can run fails, too."""
    RUNNERS[language](code, project)


@pytest.mark.parametrize("task", TASK_MODELS)
def test_each_task_has_the_lines_of_its_clients(task: str, project: Path) -> None:
    """The lines are those that the clients' own tests run, word for word; Go's are indented.

    Node's are the browser's as well.
    """
    page = (REPOSITORY / "docs" / "tasks.md").read_text(encoding="utf-8")
    section = page.partition(f"## {task}: ")[2].partition("\n## ")[0]
    shown = re.findall(r"^```(\w+)\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    own = [language for language in LANGUAGES if language != "browser"]
    fences = {"ts" if language == "node" else language: language for language in own}
    assert [fences[fence] for fence, _ in shown] == list(fences.values())
    for fence, code in shown:
        found = readme(project, task, fences[fence])
        assert code in found or indent(code, "\t") in found
        assert fence != "ts" or code in readme(project, task, "browser")


def test_every_link_between_pages_leads_somewhere() -> None:
    """Relative links name files, and anchors name headings."""
    measured = [REPOSITORY.glob(f"bench/{folder}*.md") for folder in ("", "peers/", "results/")]
    for page in (*PAGES, *chain(*measured)):
        for target in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text(encoding="utf-8")):
            name, _, anchor = target.partition("#")
            path = (page.parent / name).resolve() if name else page
            assert path.exists(), f"{page.name}: {target}"
            if anchor:
                headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
                plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
                assert anchor in {heading.replace(" ", "-") for heading in plain}


def test_every_command_is_documented() -> None:
    """docs/settings.md has a line for each verb of the command line, and only those."""
    import typer.main

    from polybake.cli.main import app

    page = (REPOSITORY / "docs/settings.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `polybake (\w+)", page, re.MULTILINE))
    assert documented == set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


def test_every_client_language_is_in_the_readme() -> None:
    """The README shows three lines of each default language, and leads to the clients of others."""
    shown = {language for place, language, _ in blocks() if place.startswith("README")}
    assert {"python", "ts", "ruby", "csharp"} <= shown
    page = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    others = set(LANGUAGES) - set(DEFAULT_LANGUAGES)
    assert all(f"(clients/{language})" in page for language in others)


def test_the_readme_is_short() -> None:
    """A newcomer reads all of it: one picture, the two commands, and links to the rest."""
    page = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert len(page.splitlines()) <= 150, "README.md has more than 150 lines: move some to docs/"
    assert page.count("![") == 1
    for session in ("demo", "tests"):
        assert f"\npip install nox && nox -s {session}\n" in page


def test_the_readmes_numbers_are_those_that_were_measured() -> None:
    """The difference is that of docs/support.md, the speed that of bench/results."""
    page = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    proofs = parse((REPOSITORY / "docs/support.md").read_text(encoding="utf-8"))
    difference = max(shown for row, shown in proofs.items() if row.kind == "all-MiniLM-L6-v2")
    assert f"**{difference:.0e}**" in page
    table = (REPOSITORY / "bench/results/peers.md").read_text(encoding="utf-8")
    named = [
        ("**polybake**", "Python"),
        ("sentence-transformers, PyTorch", "Python"),
        ("fastembed, batches of 8", "Python"),
        ("**polybake**", "Node"),
        ("transformers.js, batches of 8", "Node"),
        ("**polybake**", "Java"),
        ("LangChain4j", "Java"),
    ]
    rows = [line.split(" | ") for line in table.splitlines() if " ms (" in line]
    measured = {(row[0].removeprefix("| "), row[1]): row for row in rows}
    many = [measured[one][2].partition("/s")[0] for one in named]
    single = [measured[one][4].partition(" ms")[0] for one in named]
    told = page.partition("- **Many texts are faster")[2].partition("[All tools")[0]
    assert re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?!\w)", told) == [*many, *single]
