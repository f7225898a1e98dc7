"""What is judged on ARM, how a client is run there, and what is said where it cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import arm
import arm_machine
from arm_machine import Machine, Refusal, prepared
from models.files.task_models import TASK_MODELS
from models.files.varied import write_varied
from polybake.verification.harness.harness_file import HarnessFile
from support.arm_models import BERT, KINDS, PRECISIONS

GELU = arm.NO_KERNEL
LANGUAGES = {language for language, *_ in arm.JUDGED}


@pytest.fixture
def models(every_feed: Path, tmp_path: Path) -> Path:
    """A folder with a file of each name that `support.arm_models` writes."""
    folder = tmp_path / "models"
    folder.mkdir()
    names = {name: name for name in KINDS} | {
        f"tiny-{task}": f"tiny-{task}" for task in TASK_MODELS
    }
    names |= {f"{BERT}-{precision}": BERT for precision in PRECISIONS}
    for stem, name in names.items():
        write_varied(every_feed, folder / f"{stem}.onnx", name=name)
    return folder


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine of which only the library of ONNX Runtime is there."""
    library = tmp_path / "site/onnxruntime/capi/libonnxruntime.so.1.32.0"
    library.parent.mkdir(parents=True)
    library.touch()
    return Machine(tmp_path, "/bin/qemu", {"rust": "no compiler"})


def report(
    status: str, difference: float, *, stage: str = "embed", code: int = 1, why: str = "why"
) -> dict[str, Any]:
    """A report of one verdict, whose limit is 1e-3."""
    verdict = {"case": "a", "stage": stage, "status": status, "message": why}
    run = {"versions": None, "differences": [{"stage": stage, "limit": 1e-3}]}
    return {"exit_code": code, "runs": [run], "verdicts": [verdict | {"difference": difference}]}


def test_every_model_is_judged(models: Path) -> None:
    """In Python all of them, elsewhere one kind and the BERT, whose precisions share a client."""
    rows = list(arm.rows(models))
    files = {
        language: {file for row in rows if row.language == language for file in row.models}
        for language in LANGUAGES
    }
    assert files["python"] == {*models.glob("*.onnx")}
    few = {models / "every-feed.onnx", *models.glob(f"{BERT}-*.onnx")}
    assert all(files[language] == few for language in LANGUAGES - {"python"})
    assert {row.processor for row in rows if row.language == "python"} == {arm.PLAIN, arm.LATEST}
    shared = [row for row in rows if len(row.models) > 1]
    assert len(shared) == len(arm.JUDGED)
    assert all(len(row.models) == len(PRECISIONS) for row in shared)


def test_a_model_that_is_not_there_is_named(models: Path) -> None:
    (models / "every-feed.onnx").unlink()
    with pytest.raises(
        FileNotFoundError, match=r"no every-feed\.onnx; write them with: nox -s arm"
    ):
        list(arm.rows(models))


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_a_harness_is_run_by_the_emulator(machine: Machine, language: str) -> None:
    """Every language has a harness.json that the judge takes."""
    harness = HarnessFile.model_validate(machine.harness(language, "max"))
    assert harness.language == language
    start = harness.run.index("/bin/qemu")
    root = str(machine.folder / "root")
    assert harness.run[start + 1 : start + 5] == ("-cpu", "max", "-L", root)
    assert (start == 0) == (language != "node")
    assert [words[0] for words in harness.prepare] == list(harness.requires)


@pytest.mark.parametrize(
    ("answer", "known", "verdict"),
    [
        (report("pass", 2e-7, code=0), False, "PASS 2.0e-07"),
        (report("fail", 2e-3), False, "FAIL 2.0e-03 of 1.0e-03; a embed: why"),
        (report("fail", 2e-3), True, "KNOWN 2.0e-03 of 1.0e-03"),
        (report("fail", 2e-2), True, "FAIL 2.0e-02 of 1.0e-03; a embed: why"),
        (report("fail", 0, stage="tokenize"), True, "FAIL 0.0e+00 of 1.0e-03; a tokenize: why"),
        (report("error", 0, stage="tokenize", why=GELU), True, f"KNOWN not opened: {GELU}"),
        (report("error", 0, why=GELU), False, f"FAIL 0.0e+00 of 1.0e-03; a embed: {GELU}"),
        (report("missing-toolchain", 0, code=3), False, "SKIP why"),
    ],
)
def test_a_verdict_is_a_word(answer: dict[str, Any], known: bool, verdict: str) -> None:
    """A known difference is one of vectors, and has an end."""
    assert arm.summary(answer, known=known) == ({}, verdict)


def test_without_packages_it_is_a_visible_skip(
    models: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Refusal, match="apt-get is not on PATH"):
        prepared(tmp_path)
    assert arm.main([str(tmp_path), str(models)]) == 0
    assert capsys.readouterr().out.startswith(
        "SKIP arm: apt-get is not on PATH; run this on Debian"
    )


@pytest.mark.parametrize("fine", [True, False])
def test_a_client_that_fails_ends_the_session(
    fine: bool,
    models: Path,
    machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What cannot be prepared is said and not tried."""
    tried = set()

    def judge(_: Machine, row: arm.Row) -> bool:
        tried.add(row.language)
        return fine or row.language != "go"

    monkeypatch.setattr(arm, "prepared", lambda _: machine)
    monkeypatch.setattr(arm, "judge", judge)
    assert arm.main([str(machine.folder), str(models)]) == int(not fine)
    assert tried == LANGUAGES - {"rust"}
    assert "SKIP rust: no compiler" in capsys.readouterr().out


def test_a_command_that_fails_is_named() -> None:
    with pytest.raises(Refusal, match=r"^sh -c echo.*: no such package$"):
        arm_machine.run(["sh", "-c", "echo no such package >&2; exit 3"])


def test_packages_of_another_processor_have_lists_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lists of this machine's packages stay as they are."""
    commands: list[list[str]] = []

    def run(command: list[str], cwd: Path | None = None) -> None:
        commands.append(command)
        if "download" in command:
            assert cwd == tmp_path
            (tmp_path / "a_1_arm64.deb").touch()

    monkeypatch.setattr(arm_machine, "run", run)
    arm_machine.unpack_debian(tmp_path / "root", tmp_path, ("a=1*",), "arm64")
    update, download, unpack = commands
    lists = f"-oDir::State::Lists={tmp_path}/lists"
    assert all({"-oAPT::Architecture=arm64", lists} <= {*one} for one in (update, download))
    assert (update[-1], download[-1]) == ("update", "a=1*")
    assert unpack[-2:] == [str(tmp_path / "a_1_arm64.deb"), str(tmp_path / "root")]
