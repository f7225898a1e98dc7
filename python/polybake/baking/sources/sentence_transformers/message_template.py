"""What a chat template writes around texts, each of them a message of a role.

Source: sentence-transformers ``InputFormatter`` and ``Transformer.preprocess``.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from polybake.baking.tokenizer.chat_template import rendered
from polybake.baking.tokenizer.tokenizer_config import TokenizerConfig
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.printable import printable
from polybake.errors import InputError

#: How a message holds its text; ``auto`` is found in the template.
Format = Literal["flat", "structured", "auto"]

_FILE = "chat_template.jinja"
_LARGEST = 1 << 18

#: What sentence-transformers looks for. Source: ``InputFormatter._infer_format``.
_STRUCTURED = ("content[0]", ".type", "'type'", '"type"', "item.type", "message.content[")

#: Texts that no template writes, then others that a template could change.
_TRIED = (
    *("qZ7xQ", "dW4vJ", "", "", " ", "\n", " a ", "\n\nb\n", "\ta\r\n", "\u00a0b\u3000"),
    *("A<b>&'\"", "{{ x }}", "1", "None", "None", "0", "\0\u200d", "\u00e9e\u0301\U0001f600"),
    *("a" * 3000, "b" * 3000, "<|im_end|>", "<think>a</think>", "http://a.b/c.png", "c.jpg"),
    *("[a]", '{"b": 1}'),
)


def chat_template(folder: ModelFolder) -> str | None:
    """Return the chat template of a tokenizer; None without one.

    Source: transformers ``PreTrainedTokenizerBase.from_pretrained``.
    """
    path = folder.file(_FILE)
    value: object = TokenizerConfig.of(folder).chat_template
    if path is not None:
        with path.open("rb") as file:
            value = file.read(_LARGEST + 1).decode(errors="replace")
    elif isinstance(value, list):
        texts = {item.get("name"): item.get("template") for item in value if isinstance(item, dict)}
        value = texts.get("default", value)
    if value is not None and not (isinstance(value, str) and len(value) <= _LARGEST):
        raise InputError(
            f"{folder.path}: has no chat template of at most {_LARGEST} characters that is the "
            f"default; save one as {_FILE}"
        )
    return value


def message_template(
    folder: ModelFolder,
    roles: Sequence[str],
    system: str | None,
    message: Format,
    variables: Mapping[str, object],
) -> tuple[str, ...]:
    """Return what a chat template writes before, between and behind texts of these roles."""
    template = chat_template(folder)
    if template is None:
        raise InputError(
            f"{folder.path}: has no chat template, and its settings say that texts go through one; "
            f"download {_FILE} too, or save the model again"
        )
    lists = any(word in template for word in _STRUCTURED)
    structured = message == "structured" or (message == "auto" and lists)
    tokens = {key: token.content for key, token in TokenizerConfig.of(folder).special_tokens}
    options = {"tools": None, "documents": None, "add_generation_prompt": False}
    number = len(roles)
    trials = [_TRIED[start : start + number] for start in range(0, len(_TRIED), number)]
    before = [] if system is None else [("system", system)]
    conversations = [
        [
            {"role": role, "content": [{"type": "text", "text": text}] if structured else text}
            for role, text in [*before, *zip(roles, texts, strict=True)]
        ]
        for texts in trials
    ]
    try:
        results = rendered(template, conversations, {**tokens, **options, **variables})
    except ValueError as error:
        raise InputError(
            f"{folder.path}: its chat template cannot be rendered ({printable(str(error))}); "
            f"expected one of messages of the roles {' and '.join(roles)}, as "
            "sentence-transformers writes them; save such a template"
        ) from error
    parts = re.split(f"({'|'.join(trials[0])})", results[0])
    if parts[1::2] != [*trials[0]]:
        raise InputError(
            f"{folder.path}: its chat template does not write the messages of the roles "
            f"{' and '.join(roles)}, each once and in this order; save a template that does"
        )
    for texts, text in zip(trials, results, strict=True):
        if text != parts[0] + "".join(map("".join, zip(texts, parts[2::2], strict=True))):
            raise InputError(
                f"{folder.path}: its chat template changes texts such as "
                f"{' and '.join(repr(word[:20]) for word in texts)}, which no client does; save "
                "one that writes them as they are"
            )
    return tuple(parts[::2])
