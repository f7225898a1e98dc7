"""JinaBERT: BERT with ALiBi in place of position embeddings, and a gated feed-forward block.

Its checkpoints call themselves ``bert`` and bring their own code. In the second form, that of the
model for code, queries and keys are normalised, the gate is the other half, and another
normalisation follows attention.

Source: ``JinaBertModel`` of jinaai/jina-bert-implementation and of
jinaai/jina-bert-v2-qk-post-norm, without pooler.
"""

from dataclasses import replace

from polybake.baking.encoders import bert
from polybake.baking.encoders.architecture import Architecture
from polybake.baking.encoders.config import EncoderConfig
from polybake.baking.encoders.options import DOWN, INPUTS, OUTPUT, Options
from polybake.base.files.settings import NEEDED

_GATES = {"geglu": "gelu", "reglu": "relu"}


def jina_bert(config: EncoderConfig, gate: str = NEEDED) -> Options:
    """JinaBERT's configuration; ``hidden_act`` is that of blocks without a gate."""
    config.only("position_embedding_type", "alibi", needed=True)
    # How the code's own ``encode`` pools, which sentence-transformers does not call.
    config.only("emb_pooler", "mean", None)
    kind = config.choice((*_GATES,), "feed_forward_type", default=gate)
    return replace(
        bert.bert(config),
        positions=0,
        distance_bias="alibi",
        gated=True,
        activation=_GATES[kind],
        biases=INPUTS | OUTPUT | DOWN,
        transformers_states=False,
    )


def jina_bert_qk(config: EncoderConfig) -> Options:
    """The configuration of the second form."""
    return replace(jina_bert(config, "geglu"), head_norm="all", second_norm=True)


NAMES = bert.NAMES | {
    "gate_up": "mlp.gated_layers",
    "down": "mlp.wo",
    "after_feed_forward": "mlp.layernorm",
}
QK_NAMES = bert.NAMES | {
    "query_norm": "attention.self.layer_norm_q",
    "key_norm": "attention.self.layer_norm_k",
    "second_norm": "layer_norm_1",
    "up_gate": "mlp.up_gated_layer",
    "down": "mlp.down_layer",
    "after_feed_forward": "layer_norm_2",
}
CODE = ("JinaBert",)
ARCHITECTURES = {
    "jina_bert": Architecture(jina_bert, NAMES, "bert.", bert.HEADS, own_code=CODE),
    "jina_bert_qk": Architecture(jina_bert_qk, QK_NAMES, "bert.", bert.HEADS, own_code=CODE),
}
