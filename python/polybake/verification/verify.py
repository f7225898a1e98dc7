"""verify: do all clients of a model file give the same vectors?"""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from polybake.errors import InputError
from polybake.modelfile.container import read_head
from polybake.modelfile.fixture import DEVICES, Device
from polybake.modelfile.fixture_folder import read_fixture
from polybake.verification.harness_file import Client, find_clients, foreign_client
from polybake.verification.judge import Progress, judge
from polybake.verification.report import Report
from polybake.verification.required import required_names
from polybake.verification.session import Timeouts

_FOLDER = Path("clients")


def verify(
    model: str | os.PathLike[str],
    clients: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None = None,
    *,
    languages: Sequence[str] = (),
    harnesses: Sequence[str] = (),
    devices: Sequence[str] = ("cpu",),
    fixture: str | os.PathLike[str] | None = None,
    require: Sequence[str] = (),
    prepare: bool = False,
    timeout: float = 60.0,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Report:
    """Compare every client with the golden cases: ids exactly, then every element of every vector.

    Example: ``verify("minilm.onnx", "clients", prepare=True).exit_code()``

    Args:
        model: A baked model file.
        clients: The folder that holds the clients' folders, one client's own, or several of these;
            None means ``clients``, but no folder where only ``harnesses`` are given.
        languages: Only these clients, which may then not be skipped.
        harnesses: Commands of foreign clients that speak the protocol, as for a shell.
        devices: ``cpu``, ``cuda``.
        fixture: A folder with cases.json; None takes the golden cases in the file.
        require: Languages and devices that may not be skipped; ``POLYBAKE_REQUIRE`` adds to them.
        prepare: First run each client's prepare commands, which install its packages.
        timeout: Seconds for each answer; twice as many for those that read the whole file.
        progress: Told before each client, and after each of its stages.

    Returns:
        All verdicts; its ``exit_code()`` is 0 only if every client that could run agrees.

    Raises:
        InputError: the model, the fixture, a client's folder or an argument is not what was
            expected. A client that fails is no error: the report says so.
    """
    read_head(Path(model))  # without a model nothing else matters, and nothing else is blamed
    chosen = _chosen(clients, languages, harnesses)
    return judge(
        Path(model),
        chosen,
        None if fixture is None else read_fixture(Path(fixture)),
        devices=_devices(devices),
        prepare=prepare,
        required=required_names([*require, *languages], chosen),
        timeouts=Timeouts.of(timeout),
        progress=progress,
    )


def _chosen(
    clients: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None,
    languages: Sequence[str],
    harnesses: Sequence[str],
) -> list[Client]:
    """Generated clients, then foreign ones."""
    if clients is None:
        clients = () if harnesses and not languages else _FOLDER
    folders = [clients] if isinstance(clients, str | os.PathLike) else clients
    found = [client for folder in folders for client in find_clients(Path(folder))]
    known = [client.language for client in found]
    for name in languages:
        if name not in known:
            raise InputError(
                f"language {name!r}: there is no client of it; "
                f"choose among: {', '.join(known) or 'none'}"
            )
    return [
        *(client for client in found if not languages or client.language in languages),
        *map(foreign_client, harnesses),
    ]


def _devices(names: Sequence[str]) -> list[Device]:
    for name in names:
        if name not in DEVICES:
            raise InputError(f"device {name!r}: choose among: {', '.join(DEVICES)}")
    return [device for device in DEVICES if device in names]
