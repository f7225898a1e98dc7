"""Fetch a repository of the Hugging Face hub into the hub's cache."""

import glob
import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from polybake.baking.sources.heads.bge_m3 import LAYERS, PICKLED, SAFE
from polybake.baking.sources.sentence_transformers.modules_json import read_modules
from polybake.baking.sources.sentence_transformers.stanford_colbert import METADATA
from polybake.baking.tokenizer.older_vocabularies import VOCABULARIES
from polybake.base.files.hub_reference import HubReference
from polybake.base.files.model_folder import AS_IT_IS, ModelFolder, SourceSettings
from polybake.errors import InputError, PolybakeError, RequirementMissing, install

#: Small files, which suffice to find the weights. ``*`` also matches folders.
_SETTINGS = ("*.json", "*.jinja", "README.md", METADATA)
_TOKENIZER = "tokenizer.json"
#: The only names of safetensors files in transformers and sentence-transformers.
_WEIGHTS = ("model.safetensors", "model-*.safetensors")
#: The same of pickles.
_PICKLES = ("pytorch_model.bin", "pytorch_model-*.bin")
#: Layers that lie beside an encoder in files of their own, as safetensors or as pickles.
_BESIDE = tuple(layer + SAFE for layer in LAYERS)
_BESIDE_PICKLED = tuple(layer + PICKLED for layer in LAYERS)


#: The hub's own bot, and its pull request.
_BOT = "SFconvertbot"
_TITLE = "Adding `safetensors` variant of this model"


@dataclass(frozen=True)
class _Conversion:
    """A commit of the bot's.

    Attributes:
        pull_request: Its reference, such as ``refs/pr/4``.
        commit: The commit; its only parent is the one that was converted.
    """

    pull_request: str
    commit: str


def fetch(reference: HubReference, settings: SourceSettings = AS_IT_IS) -> ModelFolder:
    """Download the files that a bake reads, and no others, into the cache.

    Where there is no tokenizer.json, the files are fetched that one is made of.
    Without safetensors pickles are fetched if they may be read. Otherwise the commit is taken in
    which the hub's bot converted them, unless the user names a revision. Without a network only
    the cache is used.

    Returns:
        The snapshot, named by its commit.
    """
    snapshot = _download(reference, reference.revision, _SETTINGS)
    commit = replace(reference, revision=snapshot.name)
    folder = replace(ModelFolder.at(snapshot, settings), identifier=str(commit))
    places = _places(folder)
    old = [path for path in places if not any(_found(folder, path, (_TOKENIZER,)))]
    beside = (*_BESIDE, *(_BESIDE_PICKLED if settings.pickle == "tensors" else ()))
    patterns = [*_within(places, _WEIGHTS), *_within(old, VOCABULARIES), *beside]
    _download(reference, snapshot.name, patterns)
    rest = [path for path in places if not any(_found(folder, path, _WEIGHTS))]
    if rest and settings.pickle == "tensors":
        _download(reference, snapshot.name, [*_within(rest, _PICKLES)])
    elif places[0] in rest and reference.revision is None:
        conversion = _conversion_of(reference.repository, snapshot.name)
        if conversion is not None:
            pinned = replace(reference, revision=conversion.commit)
            note = (
                f"{reference} has no safetensors; those of {conversion.pull_request} were taken, "
                f"which the hub's bot made of the same commit; name {pinned} to take them unasked"
            )
            return replace(fetch(pinned, settings), notes=(note,))
    return folder


def _places(folder: ModelFolder) -> list[str]:
    """The folder of each module, ``""`` for the model's own."""
    listed = folder.file("modules.json") is not None
    modules = read_modules(folder, {}) if listed else []
    return [path for module in modules for path in module.paths] or [""]


def _within(places: Iterable[str], names: Iterable[str]) -> Iterator[str]:
    """Patterns of the files of these names in folders."""
    for path, name in itertools.product(places, names):
        yield f"{glob.escape(path)}/{name}" if path else name


def _found(folder: ModelFolder, path: str, names: Iterable[str]) -> Iterator[Path]:
    for name in names:
        yield from folder.inner(path).path.glob(name)


def _download(reference: HubReference, revision: str | None, patterns: Sequence[str]) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ModuleNotFoundError as error:
        raise RequirementMissing(
            f"{reference}: needs the package {error.name}; {install('hub')}"
        ) from error
    try:
        return Path(
            snapshot_download(
                reference.repository, revision=revision, allow_patterns=list(patterns)
            )
        )
    except Exception as error:  # the HTTP client's exceptions share no base class
        raise _explained(reference, error) from error


def _explained(reference: HubReference, error: Exception) -> PolybakeError:
    from huggingface_hub import constants
    from huggingface_hub.errors import (
        GatedRepoError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    sign_in = "set HF_TOKEN, or run: hf auth login"
    if isinstance(error, GatedRepoError):
        return InputError(
            f"{reference}: is gated; accept its terms on its page on the hub, then {sign_in}"
        )
    if isinstance(error, RepositoryNotFoundError):
        return InputError(
            f"{reference}: there is no such model on the hub, or it is private; "
            f"correct the name, or {sign_in}"
        )
    if isinstance(error, RevisionNotFoundError):
        return InputError(
            f"{reference}: the model has no such revision; name a branch, a tag or a commit"
        )
    if isinstance(error, LocalEntryNotFoundError):
        return RequirementMissing(
            f"{reference}: is not whole in the cache {constants.HF_HUB_CACHE}, and the hub cannot "
            "be reached; run this once with a network and without HF_HUB_OFFLINE"
        )
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    return RequirementMissing(f"{reference}: cannot be fetched ({reason}); try again, or {sign_in}")


def _conversion_of(repository: str, commit: str) -> _Conversion | None:
    """Return the bot's conversion of ``commit``, or None if there is none or the hub says nothing.

    One of an earlier commit is not taken, as its weights may be others.

    Source: transformers ``safetensors_conversion.previous_pr``.
    """
    from huggingface_hub import HfApi

    api = HfApi()
    with suppress(Exception):  # no network, or discussions are switched off: then there is none
        for request in api.get_repo_discussions(
            repository, author=_BOT, discussion_type="pull_request"
        ):
            if (request.author, request.title, request.status) == (_BOT, _TITLE, "open"):
                reference = f"refs/pr/{request.num}"
                commits = api.list_repo_commits(repository, revision=reference)
                if [each.commit_id for each in commits[1:2]] == [commit]:
                    return _Conversion(reference, commits[0].commit_id)
    return None
