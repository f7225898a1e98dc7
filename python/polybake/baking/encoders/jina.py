"""Jina's models: JinaBERT, and jina-embeddings-v3 with its adapters.

JinaBERT is BERT with ALiBi in place of position embeddings, and a gated feed-forward block. Its
checkpoints call themselves ``bert`` and bring their own code. In the second form, that of the model
for code, queries and keys are normalised, the gate is the other half, and another normalisation
follows attention.

jina-embeddings-v3 is XLM-RoBERTa with rotary positions. As it was published,
``xlm_roberta_flash``, it holds the adapters of its tasks in the same file. An adapter adds a
product of two narrow matrices to the weight of every table and linear layer.

Source: ``JinaBertModel`` of jinaai/jina-bert-implementation and of
jinaai/jina-bert-v2-qk-post-norm; transformers ``JinaEmbeddingsV3Model``; ``XLMRobertaLoRA`` of
jinaai/xlm-roberta-flash-implementation; all without poolers.
"""

import json
from dataclasses import replace

from pydantic import TypeAdapter

from polybake.baking.encoders import bert, nomic_bert
from polybake.baking.encoders.architecture import Architecture, EncoderConfig, Options, Stored
from polybake.baking.encoders.options import DOWN, INPUTS, OUTPUT
from polybake.baking.layers.low_rank import with_product
from polybake.baking.layers.stored_tensor import StoredTensor
from polybake.base.files.settings import NEEDED
from polybake.errors import InputError

_GATES = {"geglu": "gelu", "reglu": "relu"}
_INSTRUCTIONS: TypeAdapter[dict[str, str]] = TypeAdapter(dict[str, str])

#: What PyTorch's parametrization puts behind a layer's name in those of its tensors.
_ORIGINAL = ".parametrizations.weight.original"
_INNER_AND_OUTER = (".parametrizations.weight.0.lora_A", ".parametrizations.weight.0.lora_B")
_TABLES = ("embeddings.word_embeddings", "embeddings.token_type_embeddings")


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


def jina_v3(config: EncoderConfig, theta: float = 20_000.0, key: str = "rope_theta") -> Options:
    """jina-embeddings-v3's configuration."""
    options = replace(
        config.rotary_sizes(),
        token_types=config.size("type_vocab_size", default=1),
        epsilon=config.epsilon("layer_norm_eps", default=1e-5),
        activation=config.activation(),
    )
    return config.one_theta(options, theta, key)


def flash(config: EncoderConfig) -> Options:
    """The configuration by the keys of the code beside the weights, with its own defaults."""
    # How adapters are trained, and which files the code reads them from.
    config.pass_over("lora_dropout_p", "lora_main_params_trainable", "load_trained_adapters")
    config.pass_over("use_reentrant")
    config.only("position_embedding_type", "rotary", needed=True)
    # How the code's own ``encode`` pools and truncates, which sentence-transformers does not call.
    config.only("emb_pooler", "mean", None)
    for key in ("truncate_dim", "rope_parameters", "rope_scaling"):
        config.only(key, None)
    config.only("hidden_act", "gelu")
    options = jina_v3(config, 10_000.0, "rotary_emb_base")
    names = config.words("lora_adaptations", default=())
    prompts = config.value(_INSTRUCTIONS, "task_instructions", default={})
    scale = config.number("lora_alpha", default=1.0) / config.size("lora_rank", default=4)
    if {*prompts} != {*names}:
        raise config.refused("task_instructions has other names than lora_adaptations")
    adapter = config.choices.pop("adapter", None)
    if adapter is not None and adapter not in names:
        known = ", ".join(map(json.dumps, names)) or "none, so leave it out"
        raise InputError(f"{config.path}: has no adapter {json.dumps(adapter)}; known are: {known}")
    return replace(
        options,
        adapters={name: prompts[name] for name in names},
        adapter=None if adapter is None else (names.index(adapter), scale),
    )


def _arranged(_: Options, stored: Stored) -> dict[str, StoredTensor]:
    """Name attention as NomicBERT does, where it is a mixer."""
    return {name.replace(".mixer.", ".attn."): tensor for name, tensor in stored.items()}


def _adapted(options: Options, stored: Stored) -> dict[str, StoredTensor]:
    """Add the adapter's products to the weights, and leave the other adapters out."""
    arranged = _arranged(options, stored)
    for name in [name for name in arranged if name.endswith(_ORIGINAL)]:
        layer = name.removesuffix(_ORIGINAL)
        weight = arranged.pop(name)
        inner, outer = (arranged.pop(f"{layer}{part}", None) for part in _INNER_AND_OUTER)
        if options.adapter is not None:
            if inner is None or outer is None:
                raise InputError(
                    f"{weight.file}: {layer} lacks weights of adapters; download it again"
                )
            # A table's rows are what comes in, a linear layer's what goes out.
            left, right = (inner, outer) if layer in _TABLES else (outer, inner)
            number, scale = options.adapter
            weight = with_product(weight, left, right, number=number, scale=scale)
        arranged[f"{layer}.weight"] = weight
    if options.adapter is not None and f"{_TABLES[0]}{_ORIGINAL}" not in stored:
        raise InputError(
            f"{next(iter(stored.values())).file}: holds no adapters, though config.json names "
            "some; leave adapter out, or download it again"
        )
    return arranged


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
HEADS = ("pooler.", "lm_head.", "classifier.", "qa_outputs.")
CODE = ("JinaBert",)
ARCHITECTURES = {
    "jina_bert": Architecture(jina_bert, NAMES, "bert.", bert.HEADS, own_code=CODE),
    "jina_bert_qk": Architecture(jina_bert_qk, QK_NAMES, "bert.", bert.HEADS, own_code=CODE),
    "jina_embeddings_v3": Architecture(
        jina_v3, nomic_bert.NAMES, "roberta.", HEADS, arranged=_arranged
    ),
    "xlm_roberta_flash": Architecture(
        flash, nomic_bert.NAMES, "roberta.", HEADS, arranged=_adapted, own_code=("XLMRoberta",)
    ),
}
