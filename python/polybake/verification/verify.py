"""verify: do all clients of a model file give the same vectors?"""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import DEVICES, Device, Fixture
from polybake.base.modelfile.fixture_folder import read_fixture
from polybake.errors import InputError
from polybake.verification.harness.harness_file import Client, find_clients, foreign_client
from polybake.verification.harness.services.address import headers_for
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
    fixture: str | os.PathLike[str] | Fixture | None = None,
    require: Sequence[str] = (),
    prepare: bool = False,
    timeout: float = 60.0,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Report:
    """Compare every client with the golden cases: ids exactly, and every element of every vector.

    Example: ``verify("minilm.onnx", "clients", prepare=True).exit_code()``

    Args:
        model: A baked model file.
        clients: The folder that holds the clients' folders, one client's own, or several of these;
            None means ``clients``, but no folder if only ``harnesses`` are given.
        languages: Only these clients, which may then not be skipped.
        harnesses: Commands of foreign clients that speak the protocol, as for a shell, or addresses
            of services that answer like OpenAI's or text-embeddings-inference.
        devices: ``cpu``, ``cuda``.
        fixture: Cases, or a folder with cases.json; None takes the golden cases in the file.
        require: Languages and devices that may not be skipped; ``POLYBAKE_REQUIRE`` adds to them.
        prepare: First run each client's prepare commands, which install its packages.
        timeout: Seconds for each answer; twice as many for start, many texts and self-check.
        progress: Called before each client, and after each of its stages.

    Returns:
        All verdicts; its ``exit_code()`` is 0 only if every client that could run agrees.

    Raises:
        InputError: The model, the fixture, a client's folder or an argument is not what was
            expected. A failed client is no error: the report says so.
    """
    head = read_head(Path(model))  # first, so that a wrong model is reported before all else
    selection = chosen_clients(clients, languages, harnesses)
    check_services(selection, head.manifest.contract.task)
    return judge(
        Path(model),
        selection,
        read_fixture(Path(fixture)) if isinstance(fixture, str | os.PathLike) else fixture,
        devices=chosen_devices(devices),
        prepare=prepare,
        required=required_names([*require, *languages], selection),
        timeouts=Timeouts.of(timeout),
        progress=progress,
    )


def chosen_clients(
    clients: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None,
    languages: Sequence[str],
    harnesses: Sequence[str],
) -> list[Client]:
    """Return generated clients, then foreign ones, by the arguments of `verify`."""
    if clients is None:
        clients = () if harnesses and not languages else _FOLDER
    folders = [clients] if isinstance(clients, str | os.PathLike) else clients
    candidates = [client for folder in folders for client in find_clients(Path(folder))]
    known = [client.language for client in candidates]
    for name in languages:
        if name not in known:
            raise InputError(
                f"language {name!r}: there is no client of it; "
                f"choose among: {', '.join(known) or 'none'}"
            )
    return [
        *(client for client in candidates if not languages or client.language in languages),
        *map(foreign_client, harnesses),
    ]


def check_services(clients: Sequence[Client], task: str) -> None:
    """Check that services over HTTP can be verified for the model's task."""
    addresses = [client.language for client in clients if client.service]
    if addresses:
        headers_for(addresses)
    if addresses and task != "embed":
        raise InputError(
            f"harness {addresses[0]!r}: the model is for the task {task!r}, and services over HTTP "
            "are verified for 'embed' alone; leave it out"
        )


def chosen_devices(names: Sequence[str]) -> list[Device]:
    """The devices named, in the order of `DEVICES`."""
    for name in names:
        if name not in DEVICES:
            raise InputError(f"device {name!r}: choose among: {', '.join(DEVICES)}")
    return [device for device in DEVICES if device in names]
