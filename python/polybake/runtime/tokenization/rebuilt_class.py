"""The parts that transformers' tokenizer classes rebuild, whatever tokenizer.json says."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tokenizers import Tokenizer

from polybake.runtime.tokenization.tokenizer_config import TokenizerConfig
from polybake.runtime.tokenization.tokenizer_json import Component, TokenizerJson

Edge = tuple[str, str]
#: A function that returns whether tokenizer.json does what a setting asks for.
Says = Callable[[TokenizerJson], bool]


@dataclass(frozen=True)
class RebuiltClass:
    """A class that takes tokenizer.json's vocabulary and builds the rest from its own settings.

    Attributes:
        model: The type of tokenizer.json's model.
        first: The key and default of the token before a text, if the class sets it.
        last: The key and default of the token behind a text, if the class sets it.
        unknown: The default of ``unk_token``, if the class sets the model's.
        flags: For each key its default, and the check of tokenizer.json.
    """

    model: str
    first: Edge | None = None
    last: Edge | None = None
    unknown: str | None = None
    flags: Mapping[str, tuple[bool, Says]] = field(default_factory=dict)

    def fits(self, data: TokenizerJson) -> bool:
        """Return whether tokenizer.json has this class's type of model.

        For another type transformers 5 fails; transformers 4 kept tokenizer.json as it was.
        """
        return "vocab" in data.model and data.model.get("type", self.model) == self.model

    def rebuild(self, config: TokenizerConfig, data: TokenizerJson) -> TokenizerJson:
        """Rebuild what can be rebuilt, and refuse other contradictions.

        Raises:
            InputError: A setting contradicts tokenizer.json.
        """
        for key, (default, says) in self.flags.items():
            # Qwen's add_prefix_space is saved as null, which is false.
            given = key in config.model_fields_set
            if bool(getattr(config, key) if given else default) != (found := says(data)):
                raise config.refused(key, f"{str(found).lower()} as tokenizer.json has it")
        if self.model == "BPE":
            return data.model_copy(update={"model": {**data.model, "dropout": None}})
        if self.model != "WordPiece":
            return data
        unknown = data.model.get("unk_token")
        if (config.token("unk_token") or self.unknown) != unknown:
            raise config.refused("unk_token", f"{unknown!r} as tokenizer.json has it")
        normalizer = {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": config.tokenize_chinese_chars,
            "strip_accents": config.strip_accents,
            "lowercase": config.do_lower_case,
        }
        return data.model_copy(update={"normalizer": Component.model_validate(normalizer)})

    def check_edges(self, config: TokenizerConfig, tokenizer: Tokenizer) -> None:
        """Compare the tokens that tokenizer.json's post-processor puts around a text.

        Raises:
            InputError: They differ from the configured tokens.
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
                raise config.refused(key, f"{expected} in tokenizer.json")
