"""Every model of every contract is verified, and one that fails is named."""

from __future__ import annotations

from pathlib import Path

import pytest

import kinds


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three contracts, the first of two models."""
    for name in ("tiny-01/a", "tiny-01/b", "tiny-02/c", "tiny-tag-03/d"):
        (tmp_path / "kinds" / name).mkdir(parents=True)
    return tmp_path / "kinds"


@pytest.mark.parametrize("failing", ["", "a", "c"])
def test_each_model_is_verified(
    failing: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Clients are generated and prepared once a contract; the others go on where one fails.

    The first contract of the name that most have is verified in every language, each other in one.
    The clients of a name whose contracts all agree are removed.
    """
    ran: list[tuple[str, ...]] = []
    judged: dict[str, tuple[str, ...]] = {}
    clients = tmp_path / "clients"

    def run(languages: tuple[str, ...], *arguments: str) -> int:
        ran.append(arguments)
        judged[Path(arguments[1]).parent.name] = languages
        Path(arguments[3]).mkdir(parents=True, exist_ok=True)
        return int(arguments[0] == "verify" and Path(arguments[1]).parent.name == failing)

    monkeypatch.setattr(kinds, "run", run)
    assert kinds.main(folder, clients, every=False) == bool(failing)
    named = {
        (one[0], Path(one[1]).parent.name, Path(one[3]).name, "--prepare" in one) for one in ran
    }
    expected = {
        ("generate", "a", "tiny", False),
        ("verify", "a", "tiny", True),
        ("verify", "b", "tiny", False),
        ("generate", "c", "tiny", False),
        ("verify", "c", "tiny", True),
        ("generate", "d", "tiny-tag", False),
        ("verify", "d", "tiny-tag", True),
    }
    assert named == expected - ({("verify", "b", "tiny", False)} if failing == "a" else set())
    assert [one.name for one in clients.iterdir()] == (["tiny"] if failing else [])
    assert (judged["a"], judged["c"], judged["d"]) == (kinds.EVERY, ("node",), ("node",))
    printed = capsys.readouterr().out
    assert f"{3 - bool(failing)} of 3 contracts verified" in printed
    assert ("failed: " in printed) == bool(failing)
