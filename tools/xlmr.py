"""Write fixtures/xlmr: a seeded tiny XLM-R as torch.onnx exports it, with a Unigram tokenizer.

Needs torch, transformers and tokenizers: ``python tools/xlmr.py``.
"""

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import XLMRobertaConfig, XLMRobertaModel

FOLDER = Path(__file__).parents[1] / "fixtures" / "xlmr"
MAX_LENGTH = 24
TEXTS = [
    "query: how much protein should a person eat",
    "passage: the amount depends on weight and age",
    "der schnelle braune Fuchs springt über den faulen Hund",
    "быстрая коричневая лиса прыгает через собаку",
    "素早い茶色の狐がのろまな犬を飛び越える",
]


def tokenizer() -> Tokenizer:
    """XLM-R's special tokens and order around a Unigram model of these texts."""
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    words = sorted({f"▁{word}" for text in TEXTS for word in text.split()})
    characters = sorted({"▁", *"".join(TEXTS).replace(" ", "")})
    scores = [(piece, 0.0) for piece in special]
    scores += [(word, -2.0 - len(word) / 8) for word in words]
    scores += [(character, -5.0) for character in characters if f"▁{character}" not in words]
    made = Tokenizer(models.Unigram(scores, unk_id=3))
    made.add_special_tokens(special)
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    return made


class Encoder(torch.nn.Module):  # type: ignore[misc]  # torch is not there
    """Only the token embeddings, by position, as the exporter wants it."""

    def __init__(self, model: XLMRobertaModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Map ids and mask ``[batch, sequence]`` to ``[batch, sequence, hidden]``."""
        return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


def main() -> None:
    """Write model.onnx, tokenizer.json and the two configurations."""
    FOLDER.mkdir(exist_ok=True)
    made = tokenizer()
    made.save(str(FOLDER / "tokenizer.json"), pretty=False)
    config = XLMRobertaConfig(
        vocab_size=made.get_vocab_size(),
        hidden_size=20,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=28,
        max_position_embeddings=MAX_LENGTH + 2,
        type_vocab_size=1,
        attn_implementation="eager",
    )
    torch.manual_seed(5)
    model = XLMRobertaModel(config, add_pooling_layer=False).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0.0, 0.2)
    ids = torch.tensor([[0, 11, 12, 13, 2], [0, 14, 2, 1, 1]])

    names = ["input_ids", "attention_mask"]
    axes = {0: "batch_size", 1: "sequence_length"}
    torch.onnx.export(
        Encoder(model),
        (ids, (ids != 1).long()),
        str(FOLDER / "model.onnx"),
        opset_version=11,
        dynamo=False,
        input_names=names,
        output_names=["last_hidden_state"],
        dynamic_axes=dict.fromkeys([*names, "last_hidden_state"], axes),
    )
    config.to_json_file(FOLDER / "config.json")
    (FOLDER / "tokenizer_config.json").write_text(
        f'{{"model_max_length": {MAX_LENGTH}, "pad_token": "<pad>", '
        '"tokenizer_class": "XLMRobertaTokenizer"}\n'
    )


if __name__ == "__main__":
    main()
