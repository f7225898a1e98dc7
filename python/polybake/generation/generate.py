"""generate: the clients of a model file, written, or compared with a fresh render."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import JsonValue

from polybake.base.files.documents import document_changes
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.manifest import Manifest, parse_manifest
from polybake.errors import CheckFailed, InputError
from polybake.generation.languages import DEFAULT_LANGUAGES, LANGUAGES
from polybake.generation.render import render_client
from polybake.generation.write import (
    RECORD,
    Changes,
    changes,
    recorded_contract,
    recorded_parts,
    write_client,
)


@dataclass(frozen=True)
class ClientSettings:
    """The folder, the names and the parts of the client in one language; None derives a name."""

    folder: Path
    package: str | None = None
    module: str | None = None
    version: str = "0.1.0"
    parts: tuple[str, ...] = ()


def generate(
    model: str | os.PathLike[str] | Manifest,
    clients: str | os.PathLike[str] | Mapping[str, ClientSettings] = "clients",
    *,
    languages: Sequence[str] = (),
    parts: Sequence[str] = (),
    templates: str | os.PathLike[str] | None = None,
    force: bool = False,
    keep: bool = False,
    check: bool = False,
) -> dict[str, Changes]:
    """Write the clients of a model; nothing is written unless all can be rendered.

    Example: ``generate("minilm.onnx", "clients", languages=["ruby"])``

    Args:
        model: A baked model file, its manifest.json, or a manifest.
        clients: The folder in which each client gets a folder with its language's name; or the
            settings of each client, by language.
        languages: Only these languages. Empty means all that have settings; in a folder the
            default ones, and those that it has already.
        parts: What every client has beside its core: ``bulk``, ``cuda``; empty means what its
            settings say, or in a folder without settings the parts that it has.
        templates: A folder of the user's own templates, see ``render_client``.
        force: Overwrite files that were changed by hand.
        keep: Leave files that were changed by hand as they are, also where their render changed.
        check: Write nothing, and fail if a file would change.

    Returns:
        The changes, by language.

    Raises:
        InputError: The model or a template is wrong, a language, a name or a part cannot be used,
            or a file was changed by hand and by its template.
        CheckFailed: With ``check``, a file differs, is missing, or is left over.
    """
    manifest = model if isinstance(model, Manifest) else _read_manifest(Path(model))
    if not isinstance(clients, Mapping):
        folders = {name: Path(clients) / name for name in LANGUAGES}
        languages = languages or [
            name
            for name, folder in folders.items()
            if name in DEFAULT_LANGUAGES or (folder / RECORD).is_file()
        ]
        clients = {
            name: ClientSettings(folder, parts=recorded_parts(folder))
            for name, folder in folders.items()
        }
    for name in languages:
        if name not in clients:
            raise InputError(f"language {name!r}: choose one of: {', '.join(clients)}")
    own = Path(templates) if templates else None
    if own and not any((own / name).is_dir() for name in LANGUAGES):
        raise InputError(
            f"{own}: holds no templates; expected a folder in it named one of: "
            f"{', '.join(LANGUAGES)}"
        )
    rendered = {
        name: render_client(
            manifest, name, setup.package, setup.module, setup.version, own, parts or setup.parts
        )
        for name, setup in clients.items()
        if not languages or name in languages
    }
    contract = manifest.contract.model_dump(mode="json")
    if check:
        _check_contracts([clients[name].folder for name in rendered], contract)
    done = {}
    for name, client in rendered.items():
        arguments = (clients[name].folder, client.files | client.binaries, client.project_files)
        if check:
            done[name] = changes(*arguments, force=force, keep=keep)
        else:
            write = partial(write_client, parts=client.parts, contract=contract)
            done[name] = write(*arguments, force=force, keep=keep)
    stale = [diff.folder / path for diff in done.values() for path in diff.written + diff.removed]
    if check and stale:
        raise CheckFailed(f"not fresh: {', '.join(map(str, stale))}; run: polybake generate")
    return done


def _check_contracts(folders: Sequence[Path], contract: JsonValue) -> None:
    """Name the fields in which clients' contracts differ from the model's."""
    for folder in folders:
        own = recorded_contract(folder)
        differences = [] if own is None else list(document_changes(own, contract, "contract"))
        if differences:
            text = "; ".join(f"{entry.place}: {entry.change}" for entry in differences)
            raise CheckFailed(f"{folder}: is for another contract: {text}; run: polybake generate")


def _read_manifest(path: Path) -> Manifest:
    if path.suffix != ".json":
        return read_head(path).manifest
    try:
        return parse_manifest(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); "
            "write one with: polybake inspect MODEL --extract FOLDER"
        ) from error
