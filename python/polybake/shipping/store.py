"""The store of model files: each lies there under its digest, and is never overwritten.

A bucket, a web server or a folder, by fsspec. The store says nothing; polybake.lock says which
files are the ones.
"""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from secrets import token_hex
from typing import Any

from polybake.config import Config
from polybake.errors import CheckFailed, InputError, RequirementMissing, install
from polybake.lock import Lock, LockedFile

#: Bytes that are read at a time.
_CHUNK = 4 << 20

#: What a store's put makes visible only when all of it is there; elsewhere a rename does so.
_WHOLE = {"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "hf"}

#: Called with the bytes that are done.
Advance = Callable[[int], None]


class Store:
    """The place that ``[store] url`` names."""

    def __init__(self, config: Config) -> None:
        if config.store is None:
            raise InputError(
                'polybake.toml: says no store; add [store] with url = "s3://bucket/models", '
                "https://, gs://, az://, hf:// or a folder"
            )
        self.url = config.store.url.rstrip("/")
        self._system, self._root = _opened(self.url, config.folder)

    def push(self, path: Path, file: LockedFile, advance: Advance) -> bool:
        """Put a file under its digest; return False where it lies there already."""
        if _digest_of(path) != file.sha256:
            raise CheckFailed(f"{path}: is not the file that was built; polybake build")
        there = self._size(file.sha256)
        if there == file.bytes:
            return False
        if there is not None:
            raise CheckFailed(
                f"{self.url}/{file.sha256}: has {there} bytes, expected {file.bytes}; it is "
                "damaged: remove it there, and push again"
            )
        name = self._place(file.sha256)
        whole = self._protocol() in _WHOLE
        file_name = name if whole else f"{name}.{token_hex(8)}"
        try:
            self._system.makedirs(self._root, exist_ok=True)
            with path.open("rb") as source, self._system.open(file_name, "wb") as target:
                while chunk := source.read(_CHUNK):
                    target.write(chunk)
                    advance(len(chunk))
            if not whole:
                self._system.mv(file_name, name)
        except Exception as error:
            raise self._refused("cannot be written to", error) from error
        return True

    def pull(self, path: Path, file: LockedFile, advance: Advance) -> bool:
        """Bring a file, whole and verified or not at all; returns False where it is here already.

        What an earlier pull brought of it is kept beside it, and not brought again.
        """
        if path.is_file() and path.stat().st_size == file.bytes and _digest_of(path) == file.sha256:
            return False
        part = path.with_name(f".{path.name}.{file.sha256[:16]}.part")
        part.parent.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256()
        with part.open("a+b") as target:
            target.seek(0)
            while chunk := target.read(_CHUNK):
                digest.update(chunk)
                advance(len(chunk))
            for chunk in self._chunks(file.sha256, target.tell()):
                target.write(chunk)
                digest.update(chunk)
                advance(len(chunk))
            size = target.tell()
        if size < file.bytes:
            raise CheckFailed(
                f"{self.url}/{file.sha256}: ended after {size} of {file.bytes} bytes; pull again "
                "to go on, or where it is damaged, remove it there, and push it again"
            )
        if digest.hexdigest() != file.sha256:
            part.unlink()
            raise CheckFailed(
                f"{self.url}/{file.sha256}: does not have the digest that it is named by; remove "
                "it there, and push it again"
            )
        part.replace(path)
        return True

    def _chunks(self, key: str, start: int) -> Iterator[bytes]:
        """What an object holds from a place on; a server that knows no ranges is read from 0."""
        path, http = self._place(key), self._protocol() in {"http", "https"}
        try:
            # fsspec reads a server that knows no ranges as a stream alone.
            ranged = not http or (start > 0 and self._system.info(path).get("partial"))
            with self._system.open(path, "rb", block_size=_CHUNK if ranged else 0) as source:
                if ranged:
                    source.seek(start)
                while not ranged and start and (passed := source.read(min(_CHUNK, start))):
                    start -= len(passed)
                while chunk := source.read(_CHUNK):
                    yield chunk
        except FileNotFoundError as error:
            raise InputError(
                f"{self.url}/{key}: is not there; push it where it was built: polybake push"
            ) from error
        except Exception as error:
            raise self._refused("cannot be read", error) from error

    def _size(self, key: str) -> int | None:
        try:
            return int(self._system.info(self._place(key))["size"])
        except FileNotFoundError:
            return None
        except Exception as error:
            raise self._refused("cannot be read", error) from error

    def _place(self, key: str) -> str:
        return f"{self._root}/{key}"

    def _protocol(self) -> str:
        protocol = self._system.protocol
        return str(protocol if isinstance(protocol, str) else protocol[0])

    def _refused(self, what: str, error: Exception) -> InputError:
        reason = " ".join(str(error).split()) or type(error).__name__
        return InputError(
            f"{self.url}: {what} ({reason}); check its address, and your rights there"
        )


def files_of(config: Config, lock: Lock) -> dict[Path, LockedFile]:
    """The model files that polybake.lock lists, by their local paths."""
    output = config.model.output
    files = {config.folder / name: file for name, file in lock.files.items()}
    for path in files:
        beside = path.parent == output.parent and path.suffix == ".weights"
        if path != output and not (beside and path.name.startswith(output.stem)):
            raise InputError(
                f"polybake.lock: names {path}, where polybake.toml has {output}; polybake build"
            )
    return files


def _opened(url: str, folder: Path) -> tuple[Any, str]:
    """The file system of an address, and the path in it; a folder lies beside polybake.toml."""
    try:
        import fsspec
    except ModuleNotFoundError as error:
        raise RequirementMissing(f"a store needs the package fsspec; {install('store')}") from error
    try:
        system, root = fsspec.core.url_to_fs(
            url if "://" in url else str((folder / url).absolute())
        )
    except ImportError as error:
        raise RequirementMissing(f"{url}: {error}; {install('store')}") from error
    except ValueError as error:
        raise InputError(
            f"{url}: {error}; give s3://, https://, gs://, az://, hf:// or a folder"
        ) from error
    return system, str(root).rstrip("/")


def _digest_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); make it with: polybake build"
        ) from error
