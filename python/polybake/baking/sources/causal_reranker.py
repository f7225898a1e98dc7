"""A plain folder of a causal language model that reranks, without modules that say how.

Its authors' code says it, or ``[rerank]`` of polybake.toml.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from polybake.baking.sources.heads.causal_lm import causal_lm
from polybake.baking.sources.source import OpenEncoder, Source
from polybake.baking.tokenizer.folder_tokenizer import open_tokenizer
from polybake.baking.tokenizer.model_config import ModelConfig
from polybake.baking.tokenizer.pair_prompt import DOCUMENT, QUERY, PairPrompt
from polybake.base.files.hub_reference import repository_of
from polybake.base.files.model_folder import ModelFolder
from polybake.config import RerankTable
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer

_QWEN = "<|im_start|>system\n{}<|im_end|>\n<|im_start|>user\n"

_JUDGE = (
    "Judge whether the Document meets the requirements based on the Query and the Instruct "
    'provided. Note that the answer can only be "yes" or "no".'
)
_PASSAGES = "Given a web search query, retrieve relevant passages that answer the query"
_EXPERT = (
    "You are a search relevance expert who evaluates how well documents match search queries. For "
    "each query-document pair, carefully analyze the semantic relationship between them, then "
    "provide your binary relevance judgment (0 for not relevant, 1 for relevant)."
)
_ANSWERS = (
    "Given a query A and a passage B, determine whether the passage contains an answer to the "
    "query by providing a prediction of either 'Yes' or 'No'."
)

#: The places of the two texts in a prompt.
_TEXT = re.compile(r"\{(query|document)\}")
_TEXTS = {"query": QUERY, "document": DOCUMENT}


@dataclass(frozen=True)
class _Published:
    """How a model's authors ask it.

    Attributes:
        asked: The prompt.
        relevance: What makes a relevance of the score.
        length: The most tokens, without those of `beside`; None is what the prompt says.
        beside: The places of parts whose tokens are no part of that length.
    """

    asked: RerankTable
    relevance: str = "sigmoid"
    length: int | None = None
    beside: tuple[int, ...] = ()


#: Source: the model card of Qwen3-Reranker-0.6B, usage with transformers.
_QWEN3 = _Published(
    RerankTable(
        prompt=(
            _QWEN.format(_JUDGE),
            f"<Instruct>: {_PASSAGES}\n<Query>: {{query}}\n<Document>: {{document}}",
            "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
        ),
        true="yes",
        false="no",
        max_length=8192,
    )
)
#: Source: mixedbread-ai/mxbai-rerank ``MxbaiRerankV2``, whose scores are the bare difference.
_MXBAI = _Published(
    RerankTable(
        prompt=(
            _QWEN.format("You are Qwen, created by Alibaba Cloud. You are a helpful assistant."),
            "query: {query}",
            "\n",
            "document: {document}",
            "\n",
            f"{_EXPERT}\nRelevance:",
            "<|im_end|>\n<|im_start|>assistant\n",
        ),
        true="1",
        false="0",
        query_tokens=8192 * 3 // 4,
    ),
    relevance="identity",
    length=8192,
    beside=(0, 4, 5, 6),
)
#: Source: the model card of bge-reranker-v2-gemma, ``get_inputs``. FlagEmbedding, whose default is
#: shorter, does not count the line before the passage either.
_BGE = _Published(
    RerankTable(
        prompt=("<bos>", "A: {query}", "\n", "B: {document}", "\n", _ANSWERS),
        true="Yes",
        query_tokens=1024 * 3 // 4,
    ),
    relevance="identity",
    length=1024,
    beside=(4, 5),
)

_PUBLISHED = {
    "BAAI/bge-reranker-v2-gemma": _BGE,
    **{f"Qwen/Qwen3-Reranker-{size}": _QWEN3 for size in ("0.6B", "4B", "8B")},
    **{f"mixedbread-ai/mxbai-rerank-{size}-v2": _MXBAI for size in ("base", "large")},
}


def published_prompt(folder: ModelFolder) -> bool:
    """Return whether the authors of a repository are known to ask it in a way of their own."""
    return repository_of(folder.identifier) in _PUBLISHED


def is_language_model(folder: ModelFolder) -> bool:
    """Return whether a folder was saved with the head of a causal language model."""
    (name, *_) = ModelConfig.of(folder).architectures or ("",)
    return name.endswith("ForCausalLM")


def open_causal_reranker(
    folder: ModelFolder, open_encoder: OpenEncoder, asked: RerankTable | None
) -> Source:
    """Open a folder with the weights of a causal language model."""
    tokenizer = open_tokenizer(folder)
    known = _PUBLISHED.get(repository_of(folder.identifier))
    if asked is None and known is not None:
        asked = _with_length(known, tokenizer)
    if asked is None:
        raise InputError(
            f"{folder.path}: its files do not say how a query and a document become one prompt; "
            "say it in [rerank] of polybake.toml"
        )
    prompt = PairPrompt(
        parts=tuple(tuple(_split(part)) for part in asked.prompt),
        query_limit=asked.query_tokens,
        document_limit=asked.document_tokens,
        max_length=asked.max_length,
    )
    true = _token(folder, tokenizer, "true", asked.true)
    false = None if asked.false is None else _token(folder, tokenizer, "false", asked.false)
    return Source(
        encoder=open_encoder(folder, tokenizer),
        tokenizer=tokenizer,
        folder=folder,
        head=causal_lm(folder, true, false, "sigmoid" if known is None else known.relevance),
        pair_prompt=prompt,
        rerank=asked,
    )


def _with_length(known: _Published, tokenizer: BakedTokenizer) -> RerankTable:
    if known.length is None:
        return known.asked
    beside = (known.asked.prompt[index] for index in known.beside)
    added = sum(len(encoding.ids) for encoding in tokenizer.bare([*beside]))
    return known.asked.model_copy(update={"max_length": known.length + added})


def _split(part: str) -> Iterator[str | int]:
    """Yield the texts of a part, and the places of the pair's texts."""
    end = 0
    for match in _TEXT.finditer(part):
        if match.start() > end:
            yield part[end : match.start()]
        yield _TEXTS[match[1]]
        end = match.end()
    if end < len(part):
        yield part[end:]


def _token(folder: ModelFolder, tokenizer: BakedTokenizer, key: str, word: str) -> int:
    (ids,) = (encoding.ids for encoding in tokenizer.bare([word]))
    if len(ids) != 1:
        raise InputError(
            f"rerank.{key}: the tokenizer of {folder.path} makes {len(ids)} tokens of {word!r}; "
            "expected a word of one token, whose logit is read"
        )
    return ids[0]
