"""A source with a vector for each token; queries and documents are routes of one graph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from polybake.baking.sources.augmented_encoder import AugmentedEncoder
from polybake.baking.sources.built_encoder import BuiltEncoder
from polybake.baking.sources.kind import SAVED_AS
from polybake.baking.sources.query_augmentation import QueryAugmentation
from polybake.baking.sources.sentence_transformers.route_limits import special_tokens_behind
from polybake.baking.sources.sentence_transformers.transformer_settings import QueryExpansion
from polybake.baking.sources.source import Encoder, Recipe, Source, TaskHead
from polybake.baking.tokenizer.tokenizer_config import TokenizerConfig
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer

#: The routes, in the order of their numbers; a text without a prompt is a document.
ROUTES = ("document", "query")


@dataclass(frozen=True)
class TokenVectors:
    """The settings of a folder for texts and their tokens.

    Attributes:
        prompts: Prompt texts by name.
        steps: The steps from token embeddings to rows.
        document_length: The most tokens of a document; None means the model's limit.
        query_length: The most tokens of a query, unless a fixed augmentation sets the length.
        augmentation: How queries are filled up; None leaves them as they are.
        skipped: Tokens whose rows do not count.
        skipping: The routes in which those rows do not count.
    """

    prompts: Mapping[str, str]
    steps: Recipe
    document_length: int | None
    query_length: int | None
    augmentation: QueryExpansion | None
    skipped: Sequence[str]
    skipping: Sequence[str] = ("document",)

    def source(
        self,
        folder: ModelFolder,
        body: ModelFolder,
        encoder: Encoder,
        tokenizer: BakedTokenizer,
        head: TaskHead | None = None,
    ) -> Source:
        """Return the source of an encoder and its tokenizer, whose files lie in ``body``."""
        if not isinstance(encoder, BuiltEncoder):
            raise InputError(
                f"{folder.path}: queries are filled up before the encoder, and an exported one "
                "takes rows as they are; leave the encoder option out"
            )
        return Source(
            encoder=AugmentedEncoder(
                encoder.name, encoder, self._expansion(body, tokenizer), ROUTES
            ),
            tokenizer=tokenizer,
            folder=folder,
            recipe=self._recipe(tokenizer),
            prompts={**dict.fromkeys(ROUTES, ""), **self.prompts},
            similarity="maxsim",
            head=head,
            saved_as=SAVED_AS,
        )

    def _expansion(self, body: ModelFolder, tokenizer: BakedTokenizer) -> QueryAugmentation:
        """Return the augmentation of documents and of queries before the encoder."""
        longest = tokenizer.max_length
        query, width, fill = self.query_length or longest, 0, tokenizer.pad_id
        if self.augmentation is not None:
            width, fill = self.augmentation.length, _fill(body, tokenizer, self.augmentation)
            query = width if self.augmentation.strategy == "fixed" else max(query, width)
            if width > longest:
                raise InputError(
                    f"{body.path}: queries are filled up to {width} tokens, and the model takes "
                    f"{longest}; lower the length of query_expansion"
                )
        return QueryAugmentation(
            limits=(min(self.document_length or longest, longest), min(query, longest)),
            widths=(0, width),
            fill=fill,
            attend=self.augmentation is not None and self.augmentation.attend,
            behind=special_tokens_behind(body, tokenizer),
        )

    def _recipe(self, tokenizer: BakedTokenizer) -> Recipe:
        """Return the steps: what each route leaves out, the steps of tokens, and the unpadding.

        Source: sentence-transformers ``MultiVectorMask``; words that are not a token are ignored.
        """
        numbers = {tokenizer.id_of(word) for word in self.skipped}
        ids = sorted(number for number in numbers if number is not None)
        left_out: Recipe = ({"step": "leave_out", "ids": ids},) if ids else ()
        routes = {name: left_out if name in self.skipping else () for name in ROUTES}
        return (
            {"step": "route", "default": "document", "routes": routes},
            *self.steps,
            {"step": "unpad"},
        )


def _fill(body: ModelFolder, tokenizer: BakedTokenizer, augmentation: QueryExpansion) -> int:
    """Return the id that fills queries up: the mask token's, else the end token's."""
    config = TokenizerConfig.of(body)
    name = augmentation.token or config.token("mask_token") or config.token("eos_token")
    number = None if name is None else tokenizer.id_of(name)
    if number is None:
        raise InputError(
            f"{body.path}: queries are filled up with {name or 'the mask token'!r}, which is no "
            "token of the tokenizer; name one as the token of query_expansion"
        )
    if tokenizer.pad_side == "left":
        raise InputError(
            f"{body.path}: padding_side is left, and queries are filled up on the right; set it to "
            "right in tokenizer_config.json"
        )
    return number
