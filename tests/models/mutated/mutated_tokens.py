"""Changes of a model file's tokenizer and contract: tests/mutants/models.toml has what they do."""

from __future__ import annotations

from models.mutated.mutated import Parts

# Tokenizer


def lower_cases(parts: Parts) -> None:
    parts.tokenizer["normalizer"] = {"type": "Lowercase"}


def composes(parts: Parts) -> None:
    parts.tokenizer["normalizer"] = {"type": "NFC"}


def drops_the_first_token(parts: Parts) -> None:
    separator = {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}
    pair = [{"Sequence": {"id": name, "type_id": 0}} for name in "AB"]
    parts.tokenizer["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [pair[0], {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
        "pair": pair,
        "special_tokens": {"[SEP]": separator},
    }


def begins_with_a_space(parts: Parts) -> None:
    parts.tokenizer["pre_tokenizer"]["add_prefix_space"] = True


def reads_no_mask_token(parts: Parts) -> None:
    added = parts.tokenizer["added_tokens"]
    parts.tokenizer["added_tokens"] = [one for one in added if one["content"] != "[MASK]"]


# Contract


def _contract(parts: Parts, **changes: object) -> None:
    parts.contract = parts.contract.model_copy(update=changes)


def cuts_one_short(parts: Parts) -> None:
    shorter = parts.contract.max_length - 1
    _contract(parts, max_length=shorter)
    parts.tokenizer["truncation"]["max_length"] = shorter


def pads_on_the_left(parts: Parts) -> None:
    _contract(parts, pad_side="left")


def other_prompt(parts: Parts) -> None:
    _contract(parts, prompts=parts.contract.prompts | {"query": "query:"})
