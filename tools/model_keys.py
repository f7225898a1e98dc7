"""The keys that transformers and sentence-transformers write into the files of models.

``python tools/model_keys.py tests/data/model_keys.json`` records those of the versions that are
installed, beside those of others in the file; PyTorch is not needed. A test compares them with what
polybake computes and passes over.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from polybake.baking.encoders import ENCODERS
from polybake.base.files.atomic import replacing

#: By ``model_type``, or by class; sorted.
Keys = dict[str, list[str]]

#: Classes of tokenizers whose arguments tokenizer_config.json holds.
_TOKENIZERS = (
    *("albert.AlbertTokenizer", "bert.BertTokenizer", "camembert.CamembertTokenizer"),
    *("deberta_v2.DebertaV2Tokenizer", "gemma.GemmaTokenizer", "llama.LlamaTokenizer"),
    *("mpnet.MPNetTokenizer", "qwen2.Qwen2Tokenizer", "roberta.RobertaTokenizer", "t5.T5Tokenizer"),
    "xlm_roberta.XLMRobertaTokenizer",
)
#: What the arguments hold that no file does: vocabularies have files of their own.
_NO_KEYS = ("self", "args", "kwargs", "vocab", "merges")


def configurations() -> Keys:
    """The keys of config.json, of each architecture that transformers and polybake have."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    return {
        name: sorted(CONFIG_MAPPING[name]().to_dict())
        for name in sorted(ENCODERS)
        if name in CONFIG_MAPPING
    }


def tokenizers() -> Keys:
    """The keys of tokenizer_config.json, of each class; version 4 calls them Fast."""
    found = {}
    for path in _TOKENIZERS:
        place, name = path.split(".")
        fast = find_spec(f"transformers.models.{place}.tokenization_{place}_fast") is not None
        module = import_module(
            f"transformers.models.{place}.tokenization_{place}{'_fast' if fast else ''}"
        )
        made = getattr(module, f"{name}Fast" if fast else name)
        keys = {*inspect.signature(made.__init__).parameters} - {*_NO_KEYS}
        found[name] = sorted(key for key in keys if not key.startswith("_"))
    return found


def modules() -> Keys:
    """The keys of each module of sentence-transformers, read without importing it."""
    spec = find_spec("sentence_transformers")
    roots = [Path(root) for root in (spec and spec.submodule_search_locations) or ()]
    files = [file for root in roots for file in root.rglob("modules/**/*.py")]
    return dict(sorted(found for file in files for found in _classes(file)))


def _classes(file: Path) -> Iterator[tuple[str, list[str]]]:
    for made in ast.walk(ast.parse(file.read_text("utf-8"))):
        if not isinstance(made, ast.ClassDef):
            continue
        for part in made.body:
            match part:
                case (
                    ast.Assign(targets=[ast.Name("config_keys")], value=ast.expr() as value)
                    | ast.AnnAssign(target=ast.Name("config_keys"), value=ast.expr() as value)
                ):
                    yield made.name, sorted(ast.literal_eval(value))


def main(path: Path) -> None:
    """Write the keys of the installed versions into ``path``."""
    known = json.loads(path.read_text("utf-8")) if path.exists() else {}
    known[f"transformers {version('transformers')}"] = {
        "config.json": configurations(),
        "tokenizer_config.json": tokenizers(),
    }
    if find_spec("sentence_transformers") is not None:
        known[f"sentence-transformers {version('sentence-transformers')}"] = {"modules": modules()}
    with replacing(path) as file:
        file.write(written(known).encode())


def written(known: dict[str, dict[str, Keys]]) -> str:
    """JSON in which each architecture and class has one line."""
    text = json.dumps(known, indent=1, sort_keys=True)
    return re.sub(r"\[[^]]*\]", lambda keys: json.dumps(json.loads(keys[0])), text) + "\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
