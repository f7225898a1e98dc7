"""The program of the process in which transformers makes a tokenizer.json.

The files are not trusted: nothing is downloaded, no code of a model is run, and what would reach
the network or start a program raises an error in this process.
"""

import json
import sys
from pathlib import Path

#: Beginnings of the names of events that Python tells of before they happen.
_REFUSED = ("socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork")


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event.startswith(_REFUSED) and event != "socket.__new__":
        raise PermissionError(f"{event}{arguments!r:.80} is refused here")


def convert(folder: str, texts: list[str]) -> dict[str, object]:
    """Return the tokenizer.json of a folder, and the ids that its class gives to texts."""
    from transformers import AutoTokenizer

    instance = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    if not instance.is_fast:
        return {"fast": False}
    backend = instance.backend_tokenizer
    backend.no_truncation()
    ids = [instance(text)["input_ids"] for text in texts]
    if instance.pad_token is not None:
        backend.enable_padding(pad_id=instance.pad_token_id, pad_token=instance.pad_token)
    files = [*instance.vocab_files_names.values()]
    return {"fast": True, "files": files, "tokenizer": backend.to_str(), "ids": ids}


if __name__ == "__main__":
    given, out = sys.argv[1:]
    sys.addaudithook(_refuse)
    try:
        answer = convert(given, json.load(sys.stdin))
    except Exception as error:  # whatever a library raises of damaged files
        answer = {"error": f"{type(error).__name__}: {error}"}
    Path(out).write_text(json.dumps(answer), encoding="utf-8")
