"""The names and sizes of a checkpoint's weights, by the ``model_type`` of its config.json."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Config = Mapping[str, Any]
Sizes = dict[str, tuple[int, ...]]


def linear(name: str, inputs: int, outputs: int, *, bias: bool = True) -> Sizes:
    """A linear layer."""
    weight: Sizes = {f"{name}.weight": (outputs, inputs)}
    return weight | ({f"{name}.bias": (outputs,)} if bias else {})


def norm(name: str, size: int, *, bias: bool = True) -> Sizes:
    """A normalisation."""
    weight: Sizes = {f"{name}.weight": (size,)}
    return weight | ({f"{name}.bias": (size,)} if bias else {})


def encoder(config: Config) -> Sizes:
    """The weights of an encoder, without the prefix that a head brings."""
    return _ENCODERS.get(config["model_type"], _nothing_known)(config)


def _tables(config: Config, size: int) -> Sizes:
    return {
        "embeddings.word_embeddings.weight": (config["vocab_size"], size),
        "embeddings.position_embeddings.weight": (config["max_position_embeddings"], size),
        "embeddings.token_type_embeddings.weight": (config["type_vocab_size"], size),
        **norm("embeddings.LayerNorm", size),
    }


def _bert_layers(config: Config) -> Sizes:
    size, wide, sizes = config["hidden_size"], config["intermediate_size"], Sizes()
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            sizes |= linear(f"{layer}.attention.{part}", size, size)
        sizes |= norm(f"{layer}.attention.output.LayerNorm", size)
        sizes |= linear(f"{layer}.intermediate.dense", size, wide)
        sizes |= linear(f"{layer}.output.dense", wide, size)
        sizes |= norm(f"{layer}.output.LayerNorm", size)
    return sizes


def _bert(config: Config) -> Sizes:
    if config.get("position_embedding_type") == "alibi":
        return _jina(config)
    if config.get("position_embedding_type") == "rotary":
        return _flash(config)
    return _tables(config, config["hidden_size"]) | _bert_layers(config)


def _jina(config: Config) -> Sizes:
    size, wide = config["hidden_size"], config["intermediate_size"]
    code = "qk-post-norm" in str(config["auto_map"])
    sizes = _tables(config, size)
    del sizes["embeddings.position_embeddings.weight"]
    for name, shape in _bert_layers(config).items():
        if ".attention." in name:
            sizes[name] = shape
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        wider, down = ("up_gated_layer", "down_layer") if code else ("gated_layers", "wo")
        sizes |= linear(f"{layer}.mlp.{wider}", size, 2 * wide, bias=False)
        sizes |= linear(f"{layer}.mlp.{down}", wide, size)
        norms = ("attention.self.layer_norm_q", "attention.self.layer_norm_k")
        norms += ("layer_norm_1", "layer_norm_2")
        for one in norms if code else ("mlp.layernorm",):
            sizes |= norm(f"{layer}.{one}", size)
    return sizes


def _flash(config: Config) -> Sizes:
    size, wide = config["hidden_size"], config["intermediate_size"]
    tables = ("embeddings.word_embeddings", "embeddings.token_type_embeddings")
    weights = {tables[0]: (config["vocab_size"], size), tables[1]: (1, size)}
    sizes = norm("emb_ln", size)
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layers.{number}"
        weights[f"{layer}.mixer.Wqkv"] = (3 * size, size)
        weights[f"{layer}.mixer.out_proj"] = (size, size)
        weights[f"{layer}.mlp.fc1"], weights[f"{layer}.mlp.fc2"] = (wide, size), (size, wide)
        sizes |= norm(f"{layer}.norm1", size) | norm(f"{layer}.norm2", size)
    weights["pooler.dense"] = (size, size)
    count, rank = len(config["lora_adaptations"]), config["lora_rank"]
    for name, (outputs, inputs) in weights.items():
        parts = f"{name}.parametrizations.weight"
        table = name in tables
        sizes[f"{parts}.original"] = (outputs, inputs)
        sizes[f"{parts}.0.lora_A"] = (count, *((outputs, rank) if table else (rank, inputs)))
        sizes[f"{parts}.0.lora_B"] = (count, *((rank, inputs) if table else (outputs, rank)))
        sizes |= {} if table else {f"{name}.bias": (outputs,)}
    return sizes


def _electra(config: Config) -> Sizes:
    size, narrow = config["hidden_size"], config["embedding_size"]
    projection = {} if size == narrow else linear("embeddings_project", narrow, size)
    return _tables(config, narrow) | projection | _bert_layers(config)


def _albert(config: Config) -> Sizes:
    size, narrow = config["hidden_size"], config["embedding_size"]
    layer = "encoder.albert_layer_groups.0.albert_layers.0"
    sizes = _tables(config, narrow)
    sizes |= linear("encoder.embedding_hidden_mapping_in", narrow, size)
    sizes |= norm(f"{layer}.full_layer_layer_norm", size)
    for part in ("query", "key", "value", "dense"):
        sizes |= linear(f"{layer}.attention.{part}", size, size)
    sizes |= norm(f"{layer}.attention.LayerNorm", size)
    sizes |= linear(f"{layer}.ffn", size, config["intermediate_size"])
    return sizes | linear(f"{layer}.ffn_output", config["intermediate_size"], size)


def _mpnet(config: Config) -> Sizes:
    sizes = _tables({**config, "type_vocab_size": 1}, config["hidden_size"])
    del sizes["embeddings.token_type_embeddings.weight"]
    sizes["encoder.relative_attention_bias.weight"] = (32, config["num_attention_heads"])
    for name, shape in _bert_layers(config).items():
        renamed = name.replace("attention.output.LayerNorm", "attention.LayerNorm")
        renamed = renamed.replace("attention.output.dense", "attention.attn.o")
        for part in ("query", "key", "value"):
            renamed = renamed.replace(f"attention.self.{part}", f"attention.attn.{part[0]}")
        sizes[renamed] = shape
    return sizes


def _distilbert(config: Config) -> Sizes:
    size, wide = config["dim"], config["hidden_dim"]
    sizes = _tables({**config, "type_vocab_size": 1}, size)
    del sizes["embeddings.token_type_embeddings.weight"]
    for number in range(config["n_layers"]):
        layer = f"transformer.layer.{number}"
        for part in ("q_lin", "k_lin", "v_lin", "out_lin"):
            sizes |= linear(f"{layer}.attention.{part}", size, size)
        sizes |= norm(f"{layer}.sa_layer_norm", size)
        sizes |= linear(f"{layer}.ffn.lin1", size, wide) | linear(f"{layer}.ffn.lin2", wide, size)
        sizes |= norm(f"{layer}.output_layer_norm", size)
    return sizes


def _deberta(config: Config) -> Sizes:
    size = config["hidden_size"]
    sizes: Sizes = {"embeddings.word_embeddings.weight": (config["vocab_size"], size)}
    sizes |= norm("embeddings.LayerNorm", size)
    span = config["position_buckets"]
    sizes["encoder.rel_embeddings.weight"] = (2 * span, size)
    sizes |= norm("encoder.LayerNorm", size)
    for name, shape in _bert_layers(config).items():
        for part in ("query", "key", "value"):
            name = name.replace(f"attention.self.{part}.", f"attention.self.{part}_proj.")
        sizes[name] = shape
    return sizes


def _deberta_v1(config: Config) -> Sizes:
    size, sizes = config["hidden_size"], Sizes()
    for name, shape in _deberta({**config, "position_buckets": 512}).items():
        if not name.startswith("encoder.LayerNorm") and "attention.self." not in name:
            sizes[name] = shape
    for number in range(config["num_hidden_layers"]):
        own = f"encoder.layer.{number}.attention.self"
        sizes |= linear(f"{own}.in_proj", size, 3 * size, bias=False)
        sizes |= {f"{own}.q_bias": (size,), f"{own}.v_bias": (size,)}
        sizes |= linear(f"{own}.pos_proj", size, size, bias=False)
        sizes |= linear(f"{own}.pos_q_proj", size, size)
    return sizes


def _t5(config: Config) -> Sizes:
    size, inner, wide = config["d_model"], config["d_kv"] * config["num_heads"], config["d_ff"]
    sizes: Sizes = {"shared.weight": (config["vocab_size"], size)}
    buckets = config["relative_attention_num_buckets"]
    for number in range(config["num_layers"]):
        block = f"encoder.block.{number}.layer"
        for part in "qkv":
            sizes |= linear(f"{block}.0.SelfAttention.{part}", size, inner, bias=False)
        sizes |= linear(f"{block}.0.SelfAttention.o", inner, size, bias=False)
        if number == 0:
            bias = f"{block}.0.SelfAttention.relative_attention_bias.weight"
            sizes[bias] = (buckets, config["num_heads"])
        sizes |= norm(f"{block}.0.layer_norm", size, bias=False)
        gated = config["feed_forward_proj"].startswith("gated")
        for wi in ("wi_0", "wi_1") if gated else ("wi",):
            sizes |= linear(f"{block}.1.DenseReluDense.{wi}", size, wide, bias=False)
        sizes |= linear(f"{block}.1.DenseReluDense.wo", wide, size, bias=False)
        sizes |= norm(f"{block}.1.layer_norm", size, bias=False)
    return sizes | norm("encoder.final_layer_norm", size, bias=False)


def _modernbert(config: Config) -> Sizes:
    size, wide = config["hidden_size"], config["intermediate_size"]
    sizes: Sizes = {"embeddings.tok_embeddings.weight": (config["vocab_size"], size)}
    sizes |= norm("embeddings.norm", size, bias=False)
    for number in range(config["num_hidden_layers"]):
        layer = f"layers.{number}"
        sizes |= norm(f"{layer}.attn_norm", size, bias=False) if number else {}
        sizes |= linear(f"{layer}.attn.Wqkv", size, 3 * size, bias=False)
        sizes |= linear(f"{layer}.attn.Wo", size, size, bias=False)
        sizes |= norm(f"{layer}.mlp_norm", size, bias=False)
        sizes |= linear(f"{layer}.mlp.Wi", size, 2 * wide, bias=False)
        sizes |= linear(f"{layer}.mlp.Wo", wide, size, bias=False)
    return sizes | norm("final_norm", size, bias=False)


def _nomic(config: Config) -> Sizes:
    size, wide, sizes = config["n_embd"], config["n_inner"], Sizes()
    sizes["embeddings.word_embeddings.weight"] = (config["vocab_size"], size)
    sizes["embeddings.token_type_embeddings.weight"] = (config["type_vocab_size"], size)
    sizes |= norm("emb_ln", size)
    for number in range(config["n_layer"]):
        layer = f"encoder.layers.{number}"
        bias = bool(config.get("qkv_proj_bias"))
        sizes |= linear(f"{layer}.attn.Wqkv", size, 3 * size, bias=bias)
        sizes |= linear(f"{layer}.attn.out_proj", size, size, bias=bias)
        experts = config.get("num_experts") or 0
        if experts and number % config["moe_every_n_layers"] == 1:
            sizes |= linear(f"{layer}.mlp.router.layer", size, experts, bias=False)
            sizes[f"{layer}.mlp.experts.bias"] = (size,)
            for part in ("w1", "w2"):
                sizes[f"{layer}.mlp.experts.mlp.{part}"] = (experts * wide, size)
        else:
            for part in ("fc1",) if experts else ("fc11", "fc12"):
                sizes |= linear(f"{layer}.mlp.{part}", size, wide, bias=bias)
            sizes |= linear(f"{layer}.mlp.fc2", wide, size, bias=bias)
        sizes |= norm(f"{layer}.norm1", size) | norm(f"{layer}.norm2", size)
    return sizes


def _new(config: Config) -> Sizes:
    size, wide = config["hidden_size"], config["intermediate_size"]
    sizes: Sizes = {"embeddings.word_embeddings.weight": (config["vocab_size"], size)}
    if config["type_vocab_size"]:
        sizes["embeddings.token_type_embeddings.weight"] = (config["type_vocab_size"], size)
    sizes |= norm("embeddings.LayerNorm", size)
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        sizes |= linear(f"{layer}.attention.qkv_proj", size, 3 * size)
        sizes |= linear(f"{layer}.attention.o_proj", size, size)
        sizes |= norm(f"{layer}.attn_ln", size) | norm(f"{layer}.mlp_ln", size)
        sizes |= linear(f"{layer}.mlp.up_gate_proj", size, 2 * wide, bias=False)
        sizes |= linear(f"{layer}.mlp.down_proj", wide, size)
    return sizes


def _decoder(config: Config) -> Sizes:
    size, wide, kind = config["hidden_size"], config["intermediate_size"], config["model_type"]
    head = config.get("head_dim") or size // config["num_attention_heads"]
    query, key = head * config["num_attention_heads"], head * config["num_key_value_heads"]
    norms = ["input_layernorm", "post_attention_layernorm"]
    if kind == "gemma3_text":
        norms += ["pre_feedforward_layernorm", "post_feedforward_layernorm"]
    sizes: Sizes = {"embed_tokens.weight": (config["vocab_size"], size), "norm.weight": (size,)}
    for number in range(config["num_hidden_layers"]):
        layer = f"layers.{number}"
        for part, outputs in (("q", query), ("k", key), ("v", key)):
            bias = kind == "qwen2"
            sizes |= linear(f"{layer}.self_attn.{part}_proj", size, outputs, bias=bias)
        sizes |= linear(f"{layer}.self_attn.o_proj", query, size, bias=False)
        if kind in ("qwen3", "gemma3_text", "bidirectional_pplx_qwen3"):
            sizes |= {f"{layer}.self_attn.{part}_norm.weight": (head,) for part in "qk"}
        for part in ("gate_proj", "up_proj"):
            sizes |= linear(f"{layer}.mlp.{part}", size, wide, bias=False)
        sizes |= linear(f"{layer}.mlp.down_proj", wide, size, bias=False)
        sizes |= {f"{layer}.{name}.weight": (size,) for name in norms}
    return sizes


def _clip(config: Config) -> Sizes:
    text = {**_CLIP, **config.get("text_config", config)}
    size, wide, tower = text["hidden_size"], text["intermediate_size"], "text_model"
    sizes: Sizes = {
        f"{tower}.embeddings.token_embedding.weight": (text["vocab_size"], size),
        f"{tower}.embeddings.position_embedding.weight": (text["max_position_embeddings"], size),
        f"{tower}.embeddings.position_ids": (1, text["max_position_embeddings"]),
        "logit_scale": (1,),
        **linear("visual_projection", 32, config["projection_dim"], bias=False),
        **linear("text_projection", size, config["projection_dim"], bias=False),
        **norm(f"{tower}.final_layer_norm", size),
        **norm("vision_model.post_layernorm", 32),
    }
    for number in range(text["num_hidden_layers"]):
        layer = f"{tower}.encoder.layers.{number}"
        for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
            sizes |= linear(f"{layer}.self_attn.{part}", size, size)
        sizes |= linear(f"{layer}.mlp.fc1", size, wide) | linear(f"{layer}.mlp.fc2", wide, size)
        sizes |= norm(f"{layer}.layer_norm1", size) | norm(f"{layer}.layer_norm2", size)
    return sizes


#: What transformers takes where a configuration does not say.
_CLIP = {"max_position_embeddings": 77, "vocab_size": 49408}


def _bart(config: Config) -> Sizes:
    size = config["d_model"]
    sizes: Sizes = {"shared.weight": (config["vocab_size"], size)}
    for half in ("encoder", "decoder"):
        rows = config["max_position_embeddings"] + 2
        sizes[f"{half}.embed_positions.weight"] = (rows, size)
        sizes |= norm(f"{half}.layernorm_embedding", size)
        for number in range(config[f"{half}_layers"]):
            layer, wide = f"{half}.layers.{number}", config[f"{half}_ffn_dim"]
            for block in ("self_attn", "encoder_attn") if half == "decoder" else ("self_attn",):
                for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
                    sizes |= linear(f"{layer}.{block}.{part}", size, size)
                sizes |= norm(f"{layer}.{block}_layer_norm", size)
            sizes |= linear(f"{layer}.fc1", size, wide) | linear(f"{layer}.fc2", wide, size)
            sizes |= norm(f"{layer}.final_layer_norm", size)
    return sizes


def _nothing_known(_: Config) -> Sizes:
    return {"weight": (2, 3)}


_ENCODERS: dict[str, Callable[[Config], Sizes]] = {
    **dict.fromkeys(("bert", "roberta", "xlm-roberta", "camembert"), _bert),
    **dict.fromkeys(("qwen2", "qwen3", "mistral", "gemma", "gemma3_text", "eurobert"), _decoder),
    **dict.fromkeys(("llama", "llama_bidirec", "bidirectional_pplx_qwen3"), _decoder),
    **dict.fromkeys(("new", "gte"), _new),
    "albert": _albert,
    "bart": _bart,
    "clip": _clip,
    "deberta": _deberta_v1,
    "deberta-v2": _deberta,
    "distilbert": _distilbert,
    "electra": _electra,
    "model2vec": lambda config: {"embeddings": (config["vocab_size"], config["hidden_dim"])},
    "modernbert": _modernbert,
    "mpnet": _mpnet,
    "nomic_bert": _nomic,
    "t5": _t5,
}
