"""The tokenizer of gte-Qwen2 and its kin, whose own code puts a token behind each text.

Source: ``tokenization_qwen.Qwen2TokenizerFast.update_post_processor`` of gte-Qwen2.
"""

from polybake.runtime.tokenization.tokenizer_config import TokenizerConfig
from polybake.runtime.tokenization.tokenizer_json import TokenizerJson, tokens_behind


def with_end(config: TokenizerConfig, data: TokenizerJson) -> TokenizerJson:
    """Return the tokenizer that puts ``eos_token`` behind each text, where the model's code does.

    Raises:
        InputError: The code is known, and the settings do not ask for the token that they name.
    """
    if not config.qwen_of_gte:
        return data
    end = config.token("eos_token")
    known = {token.get("content"): token.get("id") for token in data.added_tokens}
    if config.add_eos_token is not True or end not in known:
        key, expected = ("eos_token", "a token that tokenizer.json adds")
        if config.add_eos_token is not True:
            key, expected = "add_eos_token", "true, as the code in auto_map ends texts"
        raise config.refused(
            key, expected, "correct it, or leave auto_map out to end texts as tokenizer.json does"
        )
    return data.model_copy(update={"post_processor": tokens_behind([(end, known[end])])})
