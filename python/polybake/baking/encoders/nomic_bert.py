"""NomicBERT: BERT with rotary positions and SwiGLU, normalised after each block.

Some layers of its second version have a mixture of experts, and none has a gate.

Source: transformers ``NomicBertModel``; ``NomicBertModel`` of nomic-ai/nomic-bert-2048 for biases,
plain blocks and experts.
"""

from dataclasses import replace
from typing import Annotated

import numpy as np
from pydantic import Field, TypeAdapter

from polybake.baking.encoders.architecture import Architecture, EncoderConfig, Options, Stored
from polybake.baking.encoders.options import DOWN, INPUTS, OUTPUT, UP, Experts
from polybake.baking.layers.stored_tensor import StoredTensor

_EXPERTS: TypeAdapter[int | None] = TypeAdapter(
    Annotated[int, Field(gt=1, le=256, strict=True)] | None
)


def nomic_bert(config: EncoderConfig) -> Options:
    """NomicBERT's configuration, by transformers' keys or those of the code beside its weights."""
    for key in ("prenorm", "parallel_block", "causal", "rotary_emb_interleaved"):
        config.only(key, False)
    for key in ("moe_normalize_expert_weights", "expert_choice_router", "use_rms_norm"):
        config.only(key, False, None)
    config.only("num_shared_experts", 0, None)
    config.only("ffn_div", 1)
    config.only("scale_attn_weights", True)
    config.only("rotary_emb_scale_base", None)
    config.only("rotary_scaling_factor", None)
    if config.number("rotary_emb_fraction", default=1.0) != 1.0:
        raise config.refused("rotary_emb_fraction: is not supported, only 1.0")
    # Lengths that no table has, what is computed at once, and what GPT-2 or training alone has.
    config.pass_over("max_trained_positions", "n_positions", "n_ctx", "pad_vocab_size_multiple")
    config.pass_over("dense_seq_output", "fused_bias_fc", "fused_dropout_add_ln")
    config.pass_over("last_layer_subset", "reorder_and_upcast_attn", "add_pooling_layer")
    config.pass_over("moe_impl", "moe_resid_pdrop", "router_aux_loss_coef")
    options = config.rotary_sizes(
        hidden_size=("hidden_size", "n_embd"),
        num_layers=("num_hidden_layers", "n_layer"),
        heads=("num_attention_heads", "n_head"),
        intermediate_size=("intermediate_size", "n_inner"),
    )
    gated = config.choice(("swiglu", "gelu"), "activation_function", default="swiglu") == "swiglu"
    act = config.activation(default="silu")
    options = replace(
        options,
        token_types=config.size("type_vocab_size", default=2),
        epsilon=config.epsilon("layer_norm_eps", "layer_norm_epsilon", default=1e-12),
        activation=act if gated else "gelu",
        gated=gated,
        experts=_experts(config, gated=gated),
        biases=config.biases(qkv_proj_bias=INPUTS | OUTPUT, mlp_fc1_bias=UP, mlp_fc2_bias=DOWN),
    )
    return config.one_theta(options, 1_000.0, "rope_theta", "rotary_emb_base")


def _experts(config: EncoderConfig, *, gated: bool) -> Experts | None:
    count = config.value(_EXPERTS, "num_experts", default=None)
    every = config.integer("moe_every_n_layers", default=0, strict=True)
    top = config.size("moe_top_k", default=1)
    if every <= 0:
        return None
    if count is None or top > count:
        shown = "null" if count is None else count
        raise config.refused(f"moe_top_k {top} is more than num_experts {shown}")
    if gated:
        raise config.refused(
            "activation_function 'swiglu' of experts is not supported, only 'gelu'"
        )
    return Experts(count, top, every)


def _arranged(options: Options, stored: Stored) -> dict[str, StoredTensor]:
    """Split the experts' weights, which lie one below another in two tensors of a layer."""
    count = 0 if options.experts is None else options.experts.count
    wide, arranged = options.intermediate_size, dict(stored)
    for name, tensor in stored.items():
        within = name.endswith((".experts.mlp.w1", ".experts.mlp.w2"))
        # A tensor of another size is then unexpected.
        if within and tensor.shape == (count * wide, options.hidden_size):
            del arranged[name]
            before, _, weight = name.rpartition(".")
            for number in range(count):
                rows = np.arange(number * wide, (number + 1) * wide)
                arranged[f"{before}.{number}.{weight}.weight"] = tensor.rows(
                    rows, transposed=weight == "w2"
                )
    return arranged


#: The names of the parts, which jina-embeddings-v3 shares.
NAMES = {
    "tokens": "embeddings.word_embeddings",
    "token_types": "embeddings.token_type_embeddings",
    "embedding_norm": "emb_ln",
    "layer": "encoder.layers.{}",
    "qkv": "attn.Wqkv",
    "output": "attn.out_proj",
    "after_attention": "norm1",
    "widen": "mlp.fc1",
    "up": "mlp.fc11",
    "gate": "mlp.fc12",
    "down": "mlp.fc2",
    "experts": "mlp",
    "after_feed_forward": "norm2",
}
HEADS = ("pooler.", "cls.", "classifier.")
ARCHITECTURES = {
    "nomic_bert": Architecture(
        nomic_bert,
        NAMES,
        "nomic_bert.",
        HEADS,
        arranged=_arranged,
        own_code=("NomicBert",),
    )
}
