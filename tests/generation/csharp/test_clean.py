"""What ``dotnet format`` says of the C# client, whatever is rendered."""

import re
from pathlib import Path

import pytest

from models.files.task_models import TASK_MODELS
from support.clients.dotnet import dotnet
from support.clients.hostile import CONTRACTS
from support.clients.rendered import NAMES, OUTPUTS, write

pytestmark = pytest.mark.csharp


def test_every_render_is_clean(client: Path, every_feed: Path, tmp_path: Path) -> None:
    """``dotnet format`` finds nothing to change; nor in white space, whatever is rendered.

    Style and analyzers need a build of each project, and judge lines that no name or prompt is in.
    """
    for project in ("src", "tests", "harness"):
        dotnet("format", project, "--verify-no-changes", "--no-restore", cwd=client)
    for kind, contract in CONTRACTS.items():
        for name in NAMES:
            write("csharp", tmp_path / kind / name, every_feed, name=name, contract=contract)
    for kind, output in OUTPUTS.items():
        write("csharp", tmp_path / kind, every_feed, contract={"output": output})
    check_white_space(tmp_path, 30)


def check_white_space(folder: Path, least: int) -> int:
    """Every file of the folder is formatted, which are more than so many; their number."""
    command = ("format", "whitespace", folder, "--folder", "--verify-no-changes")
    printed = dotnet(*command, "--verbosity", "diagnostic", cwd=folder)
    found = re.search(r"Formatted 0 of (\d+) files", printed)
    assert found, printed
    assert int(found[1]) >= len([*folder.rglob("*.cs")]) > least
    return int(found[1])


def test_the_recipes_are_formatted(repository: Path) -> None:
    """Their packages are not here, so that only their white space can be judged."""
    sources = [*(repository / "recipes").rglob("*.cs")]
    assert check_white_space(repository / "recipes", 0) == len(sources)


def test_the_client_of_each_task_is_clean(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Its white space is, and that of every other kind; a build with its tests judges the rest."""
    for kind in ("left", "default", "int8", "bits", "beside"):
        write("csharp", tmp_path / kind, request.getfixturevalue(f"every_feed_{kind}"))
    for task, make in TASK_MODELS.items():
        write("csharp", tmp_path / task, make(tmp_path / f"tiny-{task}.onnx"))
    write("csharp", tmp_path / "core", request.getfixturevalue("every_feed"), parts=())
    check_white_space(tmp_path, 30)
