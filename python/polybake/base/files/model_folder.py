"""A model's folder, which is not trusted: no file is read from outside it."""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from polybake.base.files.inputs import asked
from polybake.base.files.known_keys import Allowed
from polybake.base.files.settings import Settings
from polybake.base.files.validation import first_fault
from polybake.errors import InputError

_LICENCE = re.compile(r"^licen[sc]e:\s*[\"']?([\w.+-]{1,60})[\"']?\s*$", re.MULTILINE | re.ASCII)

#: The prefix of a repository's folder in a Hugging Face cache: ``models--owner--name``.
_CACHED = "models--"
_COMMIT = re.compile(r"[0-9a-f]{40}")

Model = TypeVar("Model", bound=BaseModel)
Counted = TypeVar("Counted", bound=Settings)

_OBJECT: TypeAdapter[dict[str, object]] = TypeAdapter(dict[str, object])

#: The tokens that each token attends to, as the user says: all, or itself and those before it.
Attention = Literal["both", "causal"]


class SourceSettings(BaseModel):
    """How the user wants a source to be read: keys of ``[model]``.

    Attributes:
        encoder: Who makes the graph of a folder's encoder: polybake itself, for the architectures
            in `polybake.baking.encoders`, or PyTorch's exporter, for any that transformers has.
        pickle: What is done with weights that are a pickle: they are refused, or their tensors
            alone are read.
        attention: What a decoder's tokens attend to, where only its own code says it.
        adapter: The adapter in the checkpoint that is merged into its weights; None merges none.
        allow_unknown: Unknown keys of the source's files that, as the user says, change no vector.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    encoder: Literal["native", "torch"] = "native"
    pickle: Literal["refused", "tensors"] = "refused"
    attention: Attention | None = None
    adapter: str | None = None
    allow_unknown: tuple[str, ...] = ()


#: A source is read as its own files say.
AS_IT_IS = SourceSettings()


@dataclass(frozen=True)
class ModelFolder:
    """Reads the files of one folder by name.

    Attributes:
        path: The folder.
        roots: The folders that links may lead into: the folder itself, and the ``blobs`` of the
            Hugging Face cache for a snapshot.
        identifier: The name on any machine: ``owner/name`` for a snapshot in a Hugging Face
            cache, else the last part of the path.
        revision: The commit of a snapshot.
        settings: How the user wants it to be read.
        allowed: Unknown keys of its files that the user takes responsibility for.
        notes: Sentences for the user on where its files come from.
    """

    path: Path
    roots: tuple[Path, ...]
    identifier: str
    revision: str | None = None
    settings: SourceSettings = AS_IT_IS
    allowed: Allowed = field(default_factory=Allowed, compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def at(cls, path: Path, settings: SourceSettings = AS_IT_IS) -> Self:
        """Open the folder ``path``."""
        real = path.resolve()
        identifier, revision = real.name, None
        roots: tuple[Path, ...] = (real,)
        for inner, parent in zip([real, *real.parents], real.parents, strict=False):
            if parent.name == "snapshots" and parent.parent.name.startswith(_CACHED):
                identifier = parent.parent.name.removeprefix(_CACHED).replace("--", "/")
                revision = inner.name if _COMMIT.fullmatch(inner.name) else None
                blobs = parent.parent / "blobs"
                # A link would lead wherever whoever made the folder wants.
                roots += () if blobs.is_symlink() else (blobs,)
        allowed = Allowed(settings.allow_unknown)
        return cls(path, roots, identifier, revision, settings, allowed)

    def inner(self, name: str) -> Self:
        """Return the folder ``name`` inside this folder; ``""`` is this folder."""
        return replace(self, path=self._inside(name))

    def file(self, name: str) -> Path | None:
        """Return the path of the file ``name``, or None if there is no such file."""
        path = asked(self._inside(name))
        try:
            if not path.is_file():
                return None
        except OSError as error:
            raise InputError(
                f"{path}: cannot be read ({error.strerror}); name a file within the folder"
            ) from error
        if not any(path.resolve().is_relative_to(root) for root in self.roots):
            raise InputError(
                f"{path}: links to {path.resolve()}, outside the model's folder; "
                "put the file itself into the folder"
            )
        return path

    def needed_file(self, name: str, remedy: str = "download the whole model again") -> Path:
        """Return the path of the file ``name``."""
        path = self.file(name)
        if path is None:
            raise InputError(f"{self.path}: has no {name}; {remedy}")
        return path

    def read(
        self,
        name: str,
        model: type[Model],
        *,
        needed: bool = False,
        remedy: str = "download it again",
    ) -> Model:
        """Read the JSON file ``name``."""
        path = self.needed_file(name) if needed else self.file(name)
        if path is None:
            return model()
        try:
            content = model.model_validate_json(path.read_bytes())
        except ValidationError as error:
            raise InputError(f"{path}: {first_fault(error)}; {remedy}") from error
        self.allowed.check(path, content, remedy)
        return content

    def counted(
        self, name: str, kind: type[Counted], remedy: str, *, needed: bool = True
    ) -> Counted:
        """Open the JSON file ``name``, whose keys are counted as they are read."""
        path = self.needed_file(name) if needed else self.file(name)
        try:
            values = {} if path is None else _OBJECT.validate_json(path.read_bytes())
        except ValidationError as error:
            raise InputError(f"{path}: {first_fault(error)}; {remedy}") from error
        choices = {"attention": self.settings.attention, "adapter": self.settings.adapter}
        return kind(values, self.path / name, remedy=remedy, choices=choices)

    def front_matter(self) -> str:
        """The metadata that README.md begins with; empty where there is none."""
        readme = self.file("README.md")
        parts = readme.read_text("utf-8", "replace").split("---", 2) if readme else []
        return parts[1] if len(parts) == 3 and not parts[0].strip() else ""

    def licence(self) -> str | None:
        """The licence that README.md's front matter names, such as ``apache-2.0``."""
        match = _LICENCE.search(self.front_matter())
        return match[1] if match else None

    def _inside(self, name: str) -> Path:
        relative = PurePosixPath(name.replace("\\", "/"))
        if relative.is_absolute() or ".." in relative.parts or ":" in name or "\0" in name:
            raise InputError(
                f"{self.path}: {name!r} lies outside the model's folder; "
                "name a file within the folder"
            )
        return self.path / relative
