"""Safetensors that the hub's own bot made of a repository's weights, in a pull request.

Source: transformers ``safetensors_conversion.previous_pr``, which takes them for the same reason.
"""

from contextlib import suppress
from dataclasses import dataclass

_BOT = "SFconvertbot"
_TITLE = "Adding `safetensors` variant of this model"


@dataclass(frozen=True)
class Conversion:
    """A commit of the bot's.

    Attributes:
        pull_request: Its reference, such as ``refs/pr/4``.
        commit: The commit; its only parent is the one that was converted.
    """

    pull_request: str
    commit: str


def conversion_of(repository: str, commit: str) -> Conversion | None:
    """Return the bot's conversion of ``commit``, or None if there is none or the hub says nothing.

    One of an earlier commit is not taken, as its weights may be others.
    """
    from huggingface_hub import HfApi

    api = HfApi()
    with suppress(Exception):  # no network, or discussions are switched off: then there is none
        for one in api.get_repo_discussions(
            repository, author=_BOT, discussion_type="pull_request"
        ):
            if (one.author, one.title, one.status) == (_BOT, _TITLE, "open"):
                reference = f"refs/pr/{one.num}"
                commits = api.list_repo_commits(repository, revision=reference)
                if [each.commit_id for each in commits[1:2]] == [commit]:
                    return Conversion(reference, commits[0].commit_id)
    return None
