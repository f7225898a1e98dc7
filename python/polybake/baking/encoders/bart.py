"""BART: an encoder, and a decoder that reads the same text again and looks at the encoder.

Source: transformers ``BartModel``, without the decoder's own ids: it is given the text's, one
position to the right.
"""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from onnxscript import OpBuilder, ir, nn

from polybake.baking.encoders.architecture import Architecture, EncoderConfig, Options
from polybake.baking.encoders.encoder_config import MOST_LAYERS
from polybake.baking.encoders.layer import Attention, Block, Layer, Part
from polybake.baking.encoders.options import Names
from polybake.baking.encoders.transformer import Transformer
from polybake.baking.layers.attention import AttentionWindow, padding_bias, window_bias
from polybake.baking.layers.prefix_cache import Past


@dataclass(frozen=True, kw_only=True)
class BartOptions(Options):
    """The encoder's options, the decoder's, and the id that the decoder begins with."""

    decoder: Options
    start: int


def bart(config: EncoderConfig) -> Options:
    """BART's configuration."""
    config.pass_over("classif_dropout", "decoder_layerdrop", "encoder_layerdrop", "init_std")
    config.pass_over("force_bos_token_to_be_generated")
    config.only("is_encoder_decoder", True)
    # Of the first files; transformers computes these values alone.
    for key in ("normalize_before", "add_final_layer_norm", "static_position_embeddings"):
        config.only(key, False)
    config.only("normalize_embedding", True)
    config.only("extra_pos_embeddings", 2)
    hidden = config.size("d_model", "hidden_size")
    encoder = replace(
        config.sizes(
            hidden_size=("d_model", "hidden_size"),
            num_layers=("encoder_layers", "num_hidden_layers"),
            heads=("encoder_attention_heads", "num_attention_heads"),
            intermediate_size=config.size("encoder_ffn_dim", default=4096),
        ),
        positions=config.size("max_position_embeddings", default=1024),
        position_offset=2,
        activation=config.activation("activation_function"),
        epsilon=1e-5,
        embedding_scale=math.sqrt(hidden) if config.flag("scale_embedding") else 1.0,
    )
    heads = config.size("decoder_attention_heads", default=16)
    if hidden % heads:
        raise config.refused(f"d_model {hidden} is no multiple of decoder_attention_heads {heads}")
    decoder = replace(
        encoder,
        num_layers=config.size("decoder_layers", default=12, at_most=MOST_LAYERS),
        heads=heads,
        key_value_heads=heads,
        head_size=hidden // heads,
        intermediate_size=config.size("decoder_ffn_dim", default=4096),
    )
    start = config.count("decoder_start_token_id", default=2)
    if start >= encoder.vocab_size:
        raise config.refused(f"decoder_start_token_id {start} is no token of {encoder.vocab_size}")
    return BartOptions(**vars(encoder), decoder=decoder, start=start)


class CrossLayer(Layer):
    """A layer that also attends to the encoder."""

    def __init__(self, options: Options, names: Names, number: int, attention: nn.Module) -> None:
        super().__init__(options, names, number, attention)
        crossed = {part: name.replace("self_attn", "encoder_attn") for part, name in names.items()}
        norm = Part(options, crossed).norm("after_attention")
        self.crossed = Block(Attention(options, crossed, number), after=norm)

    def forward(
        self, op: OpBuilder, x: ir.Value, bias: ir.Value, seen: ir.Value, padding: ir.Value
    ) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``, of the tokens that are seen."""
        x = self.crossed(op, self.attention(op, x, bias), padding, None, None, seen)
        return self.feed_forward(op, x)


class Decoder(Transformer):
    """The half that looks at the other, with whose tokens it shares a table."""

    layer: ClassVar[type[Layer]] = CrossLayer


class Bart(Transformer):
    """BART: token ids to the decoder's token embeddings."""

    options: BartOptions

    def __init__(self, options: BartOptions, names: Names) -> None:
        super().__init__(options, names)
        own = {part: name.replace("encoder.", "decoder.") for part, name in names.items()}
        self.decoder = Decoder(options.decoder, own)
        self.decoder.tokens = self.tokens

    def forward(
        self,
        op: OpBuilder,
        input_ids: ir.Value,
        attention_mask: ir.Value,
        token_type_ids: ir.Value | None = None,  # noqa: ARG002 - what other networks take
        past: Past | None = None,  # noqa: ARG002
    ) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, sequence, hidden]``."""
        options, padding = self.options, padding_bias(op, attention_mask)
        states = self.run(op, self.embed(op, input_ids), [(padding,)] * options.num_layers)
        start = op.Constant(value_int=options.start)
        earlier = op.Slice(op.Pad(input_ids, [0, 1, 0, 0], start), [0], [-1], [1])
        # Padding stands behind the text, so no kept token attends to it here.
        causal = window_bias(op, attention_mask, AttentionWindow(after=0))
        inputs = [(causal, states, padding)] * options.decoder.num_layers
        return self.decoder.run(op, self.decoder.embed(op, earlier), inputs)


NAMES = {
    "tokens": "shared",
    "positions": "encoder.embed_positions",
    "embedding_norm": "encoder.layernorm_embedding",
    "layer": "encoder.layers.{}",
    "query": "self_attn.q_proj",
    "key": "self_attn.k_proj",
    "value": "self_attn.v_proj",
    "output": "self_attn.out_proj",
    "after_attention": "self_attn_layer_norm",
    "widen": "fc1",
    "down": "fc2",
    "after_feed_forward": "final_layer_norm",
}
#: The tables of tokens of both halves are the shared one.
IGNORED = (
    *("lm_head.", "final_logits_bias", "classification_head.", "qa_outputs."),
    *("encoder.embed_tokens.", "decoder.embed_tokens.", "encoder.version", "decoder.version"),
)
ARCHITECTURES = {"bart": Architecture(bart, NAMES, "model.", IGNORED, network=Bart)}
