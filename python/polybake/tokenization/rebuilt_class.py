"""What transformers' own tokenizer classes make anew, whatever tokenizer.json says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import cast

from tokenizers import Tokenizer

from polybake.tokenization.tokenizer_config import SAVE_AGAIN, TokenizerConfig

Data = dict[str, object]
Edge = tuple[str, str]


@dataclass(frozen=True)
class RebuiltClass:
    """A class that takes tokenizer.json's vocabulary and makes the rest by its own settings.

    Attributes:
        model: The type of tokenizer.json's model.
        first: The key and default of the token before a text, if it sets one.
        last: Those of the token behind it.
        unknown: The default of ``unk_token``, where it makes the model's.
        flags: By key: the default, and whether tokenizer.json says so.
    """

    model: str
    first: Edge | None = None
    last: Edge | None = None
    unknown: str | None = None
    flags: Mapping[str, tuple[bool, Callable[[Data], bool]]] = field(default_factory=dict)

    def fits(self, data: Data) -> bool:
        """Whether tokenizer.json has this class's model.

        transformers 5 fails where it has another; transformers 4 kept it as it was.
        """
        model = data.get("model")
        if not isinstance(model, dict) or "vocab" not in model:
            return False
        return bool(model.get("type", self.model) == self.model)

    def rebuild(self, config: TokenizerConfig, data: Data) -> Data:
        """Make anew what can be; what tokenizer.json says otherwise is refused.

        Raises:
            InputError: a setting that contradicts tokenizer.json, or of the wrong type.
        """
        for key, (default, says) in self.flags.items():
            # Qwen's add_prefix_space is saved as null, which is false.
            wanted = bool(config.optional_flag(key)) if key in config.settings else default
            if wanted != (found := says(data)):
                raise config.refused(
                    key, f"{str(found).lower()} as tokenizer.json has it", SAVE_AGAIN
                )
        model = dict(cast(Mapping[str, object], data["model"]))
        if self.model == "BPE":
            return {**data, "model": {**model, "dropout": None}}
        if self.model != "WordPiece":
            return data
        if (config.token("unk_token") or self.unknown) != model.get("unk_token"):
            expected = f"{model.get('unk_token')!r} as tokenizer.json has it"
            raise config.refused("unk_token", expected, SAVE_AGAIN)
        return {
            **data,
            "normalizer": {
                "type": "BertNormalizer",
                "clean_text": True,
                "handle_chinese_chars": config.flag("tokenize_chinese_chars", True),
                "strip_accents": config.optional_flag("strip_accents"),
                "lowercase": config.flag("do_lower_case", True),
            },
        }

    def check_edges(self, config: TokenizerConfig, tokenizer: Tokenizer) -> None:
        """Compare the tokens that tokenizer.json's post-processor puts around a text.

        Raises:
            InputError: they are others than the configured ones.
        """
        edges = ((self.first, 0), (self.last, -1))
        count = tokenizer.num_special_tokens_to_add(False)
        wanted = sum(edge is not None for edge, _ in edges)
        ids = tokenizer.encode("").ids
        for edge, place in edges:
            if edge is None:
                continue
            key, default = edge
            content = config.token(key) or default
            found = tokenizer.id_to_token(ids[place]) if count == wanted else None
            if found != content:
                expected = repr(found) if found else f"a post_processor with {content!r}"
                raise config.refused(key, f"{expected} in tokenizer.json", SAVE_AGAIN)
