"""polybake.lock: what a model file was made of, to see later whether that is still what is here.

``polybake build`` writes it beside polybake.toml, to be committed. `findings` compares it with what
is here: it hashes files, and needs no package of a bake.
"""

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from polybake.base.files.atomic import replacing
from polybake.base.files.hub_reference import HubReference
from polybake.base.files.inputs import Digests, Stamp, below, stamp
from polybake.base.files.validation import first_fault
from polybake.base.modelfile.manifest import Manifest
from polybake.config import Config, Table
from polybake.errors import InputError
from polybake.generation.write import RECORD

#: The folder of `Digests`, beside the lock.
CACHE = ".polybake_cache"

_HEAD = (
    "# Written by polybake build, to be committed: polybake check compares it with what is here.\n"
)

#: The tables of polybake.toml that decide what is baked.
_SETTINGS = ("model", "steps", "prompts", "rerank", "fixtures")

_BUILD = "polybake build"


class LockedFile(Table):
    """A file that a build wrote."""

    bytes: int
    sha256: str


class Lock(Table):
    """A whole polybake.lock; every path is relative to its folder.

    Attributes:
        lock: The version of this format.
        fingerprint: The model's.
        contract: The SHA-256 of the model's contract.
        hub: The repository and the commit of a source from the hub.
        made_with: The versions of packages that can change a bit of the model file.
        settings: The SHA-256 of each setting that decides what is baked, by its key.
        inputs: The SHA-256 of each file that the build read.
        absent: The files that it would have read, had they been there.
        files: The model file, and its weights where they lie beside it.
        clients: The SHA-256 of each client's record of generated files.
    """

    lock: Literal[1] = 1
    fingerprint: str
    contract: str
    hub: str | None = None
    made_with: dict[str, str] = Field(default_factory=dict)
    settings: dict[str, str]
    absent: tuple[str, ...] = ()
    inputs: dict[str, str]
    files: dict[str, LockedFile]
    clients: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """What one comparison found, as a sentence with its remedy.

    Attributes:
        state: ``same``; ``changed``; or ``unseen``, where it could not be looked at.
        text: The sentence.
    """

    state: Literal["same", "changed", "unseen"]
    text: str


def lock_of(
    config: Config, manifest: Manifest, stamps: Mapping[Path, Stamp], digests: Digests
) -> Lock:
    """Make the lock of a build that has just ended."""
    folder, output = config.folder, config.model.output
    of_hub = isinstance(config.model.source, HubReference)
    inputs, absent = {}, []
    for path, then in stamps.items():
        if of_hub and "snapshots" in path.parts:
            continue  # its commit says what it holds
        digest = digests.of(path)
        if digest is None:
            absent.append(below(path, folder))
        else:
            inputs[below(path, folder)] = digest
        if stamp(path) != then:
            raise InputError(f"{path}: changed while the build ran; build again: {_BUILD}")
    paths = [output]
    if manifest.weights is not None:
        paths.append(output.parent / manifest.weights.file)
    return Lock(
        fingerprint=manifest.fingerprint,
        contract=manifest.contract.digest,
        hub=manifest.source.identifier if of_hub else None,
        made_with=_versions(),
        settings=_settings(config),
        absent=tuple(sorted(absent)),
        inputs=dict(sorted(inputs.items())),
        files={
            below(path, folder): LockedFile(
                bytes=path.stat().st_size, sha256=digests.of(path) or ""
            )
            for path in paths
        },
        clients={
            below(path, folder): digest
            for path in config.client_folders
            if (digest := digests.of(path / RECORD))
        },
    )


def write_lock(lock: Lock, path: Path) -> None:
    """Write a lock, sorted, a line an input: it is read and merged in pull requests."""
    import tomlkit

    data = lock.model_dump(exclude_none=True)
    lines = tomlkit.array().multiline(True)
    lines.extend(data["absent"])
    with replacing(path) as file:
        file.write((_HEAD + tomlkit.dumps(data | {"absent": lines})).encode())


def read_lock(path: Path) -> Lock | None:
    """Read a lock; None where there is none."""
    remedy = f"restore it, or write it anew: {_BUILD}"
    try:
        return Lock.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise InputError(f"{path}: {first_fault(error)}; {remedy}") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error}); {remedy}") from error


def needed_lock(path: Path) -> Lock:
    """Read a lock that must be there."""
    lock = read_lock(path)
    if lock is None:
        raise InputError(f"{path}: is missing, which says what was built; {_BUILD}")
    return lock


def findings(config: Config, lock: Lock, digests: Digests) -> Iterator[Finding]:
    """Compare a lock with what is here, without a bake."""
    yield from _versions_found(lock)
    yield from _settings_found(config, lock)
    yield from _inputs_found(config, lock, digests)
    yield from _files_found(config, lock, digests)
    yield from _clients_found(config, lock, digests)


def _versions_found(lock: Lock) -> Iterator[Finding]:
    """Compare the packages of the bake; one that is not installed cannot be compared."""
    now = _versions()
    for name, built in lock.made_with.items():
        installed = now.get(name)
        if installed is None:
            yield Finding("unseen", f"{name}: {built} made the file, and it is not installed here")
        elif installed != built:
            yield Finding(
                "changed",
                f"{name}: {built} made the file, and {installed} is installed; {_BUILD}, or "
                f"install {name}=={built}",
            )
    if lock.made_with and lock.made_with == now:
        yield Finding("same", "versions: the packages are those that made the file")


def _settings_found(config: Config, lock: Lock) -> Iterator[Finding]:
    now = _settings(config)
    changed = sorted(key for key, _ in now.items() ^ lock.settings.items())
    for key in dict.fromkeys(changed):
        yield Finding("changed", f"polybake.toml: {key} changed since the build; {_BUILD}")
    if not changed:
        yield Finding("same", "settings: polybake.toml says what was built")


def _inputs_found(config: Config, lock: Lock, digests: Digests) -> Iterator[Finding]:
    source = config.model.source
    if lock.hub is not None and isinstance(source, HubReference):
        commit = lock.hub.rpartition("@")[2]
        if source.revision == commit:
            yield Finding("same", f"source: {source} names the commit that was built")
        else:
            yield Finding(
                "unseen",
                f"{source}: whether it still is the commit {commit} was not looked at; "
                f'say source = "{lock.hub}"',
            )
    gone = source if isinstance(source, Path) and not source.exists() else None
    if gone:
        yield Finding(
            "unseen", f"{gone}: the source is not on this machine; its files were not looked at"
        )
    changed = looked_at = 0
    for name, expected in {**lock.inputs, **dict.fromkeys(lock.absent)}.items():
        path = config.folder / name
        if gone and path.is_relative_to(gone):
            continue
        digest = digests.of(path)
        looked_at += expected is not None
        if digest == expected:
            continue
        changed += 1
        if digest is None:
            yield Finding(
                "changed", f"{path}: is missing; put it back, or build without it: {_BUILD}"
            )
        elif expected is None:
            yield Finding("changed", f"{path}: is new: the build did not find it; {_BUILD}")
        else:
            yield Finding("changed", f"{path}: changed since the build; {_BUILD}")
    if looked_at and not changed:
        yield Finding("same", f"inputs: {looked_at} files are as they were")


def _files_found(config: Config, lock: Lock, digests: Digests) -> Iterator[Finding]:
    remedy = _BUILD if config.store is None else f"polybake pull, or {_BUILD}"
    for name, file in lock.files.items():
        path = config.folder / name
        digest = digests.of(path)
        if digest is None:
            yield Finding("unseen", f"{path}: is not on this machine; {remedy}")
        elif digest != file.sha256:
            yield Finding("changed", f"{path}: is not the file that was built; {remedy}")
        else:
            yield Finding("same", f"file: {path} is the one that was built")


def _clients_found(config: Config, lock: Lock, digests: Digests) -> Iterator[Finding]:
    now = {below(path, config.folder): digests.of(path / RECORD) for path in config.client_folders}
    changed = sorted(name for name in now | lock.clients if now.get(name) != lock.clients.get(name))
    for name in changed:
        fault = "is not the client that was built" if now.get(name) else "has no generated client"
        yield Finding("changed", f"{config.folder / name}: {fault}; {_BUILD}")
    if now and not changed:
        yield Finding("same", f"clients: {len(now)} are those that were built")


def _settings(config: Config) -> dict[str, str]:
    """The SHA-256 of each setting that is not its default, with paths as on any machine."""
    settings = config.model_dump(
        mode="json", exclude_defaults=True, include={*_SETTINGS}, exclude={"model": {"source"}}
    )
    model, fixtures = settings.pop("model"), settings.pop("fixtures", {})
    for key in ("source", "output", "calibration"):
        entry = getattr(config.model, key)
        if entry is not None:
            model[key] = below(entry, config.folder) if isinstance(entry, Path) else str(entry)
    if "texts" in fixtures:
        fixtures["texts"] = [below(path, config.folder) for path in config.fixtures.texts]
    settings |= {f"model.{key}": value for key, value in model.items()}
    settings |= {f"fixtures.{key}": value for key, value in fixtures.items()}
    return {key: _digest(value) for key, value in sorted(settings.items())}


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _versions() -> dict[str, str]:
    """The versions of what makes the graph, of those packages that are installed."""
    from importlib.metadata import PackageNotFoundError, version

    from polybake import __version__

    versions = {"polybake": __version__}
    with suppress(PackageNotFoundError):
        versions["onnx"] = version("onnx")
    return dict(sorted(versions.items()))
