"""transformers' tokenizer classes, which have settings of their own beside tokenizer.json."""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tokenizers import Tokenizer

from polybake.baking.tokenizer.class_parts import ClassParts, MakeParts
from polybake.baking.tokenizer.tokenizer_config import TokenizerConfig
from polybake.baking.tokenizer.tokenizer_json import Component, TokenizerJson

Edge = tuple[str, str]
#: A function that returns whether tokenizer.json does what a setting asks for.
Says = Callable[[TokenizerJson], bool]


@dataclass(frozen=True)
class RebuiltClass:
    """A class that takes tokenizer.json's vocabulary and, in transformers 5, makes the rest anew.

    Attributes:
        make: Makes the parts that decide ids.
        first: The key and default of the token before a text, if the class sets it.
        last: The key and default of the token behind a text, if the class sets it.
        unknown: The default of ``unk_token``, if the class sets the model's.
        flags: For each key its default, and the check of tokenizer.json.
    """

    make: MakeParts
    first: Edge | None = None
    last: Edge | None = None
    unknown: str | None = None
    flags: Mapping[str, tuple[bool, Says]] = field(default_factory=dict)

    def parts(self, config: TokenizerConfig, data: TokenizerJson) -> ClassParts:
        """Return the parts that transformers 5 makes, with the file's table of replacements."""
        compiled = next(
            (part for part in data.parts("normalizer") if part.type == "Precompiled"), None
        )
        coded = "" if compiled is None else str(compiled.get("precompiled_charsmap") or "")
        return self.make(config, base64.b64decode(coded))

    def fits(self, data: TokenizerJson) -> bool:
        """Return whether tokenizer.json has this class's type of model.

        For another type transformers 5 makes this class's model of the vocabulary all the same, and
        transformers 4 kept tokenizer.json as it was.
        """
        model = self.make(TokenizerConfig(), b"").model
        return "vocab" in data.model and data.model.get("type", model) == model

    def rebuild(self, config: TokenizerConfig, data: TokenizerJson) -> TokenizerJson:
        """Return tokenizer.json as both versions of transformers change it.

        Version 4 changes the file's BertNormalizer alone, and fails where there is no normalizer.
        """
        for key, (default, says) in self.flags.items():
            if config.flag(key, default=default) != (found := says(data)):
                raise config.refused(key, f"{str(found).lower()} as tokenizer.json has it")
        made = self.parts(config, data)
        if made.model == "BPE":
            return data.model_copy(update={"model": {**data.model, "dropout": None}})
        if made.model != "WordPiece":
            return data
        unknown = data.model.get("unk_token")
        if (config.token("unk_token") or self.unknown) != unknown:
            raise config.refused("unk_token", f"{unknown!r} as tokenizer.json has it")
        saved = data.normalizer
        if made.normalizer is None or (saved is not None and saved.type != "BertNormalizer"):
            return data
        normalizer = json.loads(made.normalizer.__getstate__())
        if saved is not None:
            normalizer["clean_text"] = saved.get("clean_text", True)
        return data.model_copy(update={"normalizer": Component.model_validate(normalizer)})

    def check_edges(self, config: TokenizerConfig, tokenizer: Tokenizer) -> None:
        """Compare the tokens that tokenizer.json's post-processor puts around a text."""
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
