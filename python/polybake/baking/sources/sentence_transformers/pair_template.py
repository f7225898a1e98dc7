"""The chat template of a CrossEncoder: a message with the query, and one with the document.

Source: sentence-transformers ``InputFormatter.pair_to_messages`` and ``Transformer.preprocess``.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.printable import printable
from polybake.errors import InputError
from polybake.runtime.tokenization.chat_template import rendered
from polybake.runtime.tokenization.pair_prompt import DOCUMENT, QUERY, PairPrompt
from polybake.runtime.tokenization.tokenizer_config import TokenizerConfig

#: How a message holds its text; ``auto`` is found in the template.
Format = Literal["flat", "structured", "auto"]

_FILE = "chat_template.jinja"
_LARGEST = 1 << 18

#: What sentence-transformers looks for. Source: ``InputFormatter._infer_format``.
_STRUCTURED = ("content[0]", ".type", "'type'", '"type"', "item.type", "message.content[")

#: A query and a document that no template writes, then others that a template could change.
_MARKS = ("qZ7xQ", "dW4vJ")
_TRIED = (
    _MARKS,
    *(
        ("", ""),
        (" ", "\n"),
        (" a ", "\n\nb\n"),
        ("\ta\r\n", "\u00a0b\u3000"),
        ("A<b>&'\"", "{{ x }}"),
    ),
    *(
        ("1", "None"),
        ("None", "0"),
        ("\0\u200d", "\u00e9e\u0301\U0001f600"),
        ("a" * 3000, "b" * 3000),
    ),
    *(("<|im_end|>", "<think>a</think>"), ("http://a.b/c.png", "c.jpg"), ("[a]", '{"b": 1}')),
)


def chat_template(folder: ModelFolder) -> str | None:
    """Return the chat template of a tokenizer; None without one.

    Raises:
        InputError: It is larger than any template, or there are several and none is the default.

    Source: transformers ``PreTrainedTokenizerBase.from_pretrained``.
    """
    path = folder.file(_FILE)
    given: object = TokenizerConfig.of(folder).chat_template
    if path is not None:
        with path.open("rb") as file:
            given = file.read(_LARGEST + 1).decode(errors="replace")
    elif isinstance(given, list):
        named = {one.get("name"): one.get("template") for one in given if isinstance(one, dict)}
        given = named.get("default", given)
    if given is not None and not (isinstance(given, str) and len(given) <= _LARGEST):
        raise InputError(
            f"{folder.path}: has no chat template of at most {_LARGEST} characters that is the "
            f"default; save one as {_FILE}"
        )
    return given


def pair_template(
    folder: ModelFolder,
    template: str,
    *,
    message: Format,
    system: str | None,
    variables: Mapping[str, object],
) -> PairPrompt:
    """Return the prompt that a chat template makes of a pair.

    Args:
        folder: The tokenizer's folder.
        template: The chat template.
        message: How messages hold their texts.
        system: The text of the system's message, if there is one.
        variables: Further variables of the template.

    Raises:
        InputError: The template fails, or writes other texts than it is given, or not each once.
    """
    if message == "auto":
        message = "structured" if any(one in template for one in _STRUCTURED) else "flat"
    tokens = {key: token.content for key, token in TokenizerConfig.of(folder).special_tokens}
    conversations = [_conversation(system, pair, message) for pair in _TRIED]
    given = {"tools": None, "documents": None, "add_generation_prompt": False}
    try:
        texts = rendered(template, conversations, {**tokens, **given, **variables})
    except ValueError as error:
        raise InputError(
            f"{folder.path}: its chat template cannot be rendered ({printable(str(error))}); "
            "expected one of messages of the roles query and document, as sentence-transformers "
            "has for a CrossEncoder; save such a template"
        ) from error
    before, _, others = texts[0].partition(_MARKS[QUERY])
    between, _, behind = others.partition(_MARKS[DOCUMENT])
    if [texts[0].count(mark) for mark in _MARKS] != [1, 1] or _MARKS[DOCUMENT] in before:
        raise InputError(
            f"{folder.path}: its chat template does not write the messages of the roles query and "
            "document, each once and in this order; save a template that does"
        )
    for (query, document), text in zip(_TRIED, texts, strict=True):
        if text != before + query + between + document + behind:
            raise InputError(
                f"{folder.path}: its chat template changes texts such as {query[:20]!r} and "
                f"{document[:20]!r}, which no client does; save one that writes them as they are"
            )
    return PairPrompt(((before, QUERY, between, DOCUMENT, behind),))


def _conversation(
    system: str | None, pair: tuple[str, str], message: Format
) -> Sequence[Mapping[str, object]]:
    texts = {
        **({} if system is None else {"system": system}),
        "query": pair[0],
        "document": pair[1],
    }
    return [
        {
            "role": role,
            "content": [{"type": "text", "text": text}] if message == "structured" else text,
        }
        for role, text in texts.items()
    ]
