"""CLIP's text tower: token ids to one embedding of a text, in the space of its pictures.

Source: transformers ``CLIPModel.get_text_features`` and ``CLIPTextModelWithProjection``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from onnxscript import OpBuilder, ir
from pydantic import TypeAdapter

from polybake.baking.encoders.architecture import Architecture, EncoderConfig, Options
from polybake.baking.encoders.transformer import Transformer
from polybake.baking.layers.prefix_cache import Past
from polybake.baking.pooling import choose_row

_CLASSES: TypeAdapter[tuple[str, ...] | None] = TypeAdapter(tuple[str, ...] | None)

#: The key of the text tower in the config.json of both towers.
_TEXT = "text_config"
#: An older name of it; with its class's defaults it wins in transformers.
_OLDER = "text_config_dict"
#: The keys that count beside the text tower's and not within.
_OF_BOTH = ("model_type", "architectures", "projection_dim")
#: Sizes that the text tower has where the file does not say.
_SIZES = {
    "vocab_size": 49408,
    "hidden_size": 512,
    "num_hidden_layers": 12,
    "num_attention_heads": 8,
    "intermediate_size": 2048,
}
#: The tower's own keys, which the older name says anew.
_OWN = (
    *(*_SIZES, "max_position_embeddings", "hidden_act", "layer_norm_eps", "projection_dim"),
    *("eos_token_id", "architectures", "is_causal", "is_decoder", "quantization_config"),
)
#: The wrong id of old configurations; see transformers' pull request 24773.
_OLD_END = 2


@dataclass(frozen=True, kw_only=True)
class ClipOptions(Options):
    """CLIP's options, and the token that ends a text."""

    end: int


def clip(config: EncoderConfig) -> Options:
    """CLIP's configuration."""
    config.values = _of_the_text(config)
    # Keys of the pictures' tower, and of what compares both.
    config.pass_over("vision_config", "vision_config_dict", "logit_scale_init_value")
    config.only("is_causal", True)
    classes = config.value(_CLASSES, "architectures", default=None) or ("CLIPModel",)
    size = config.size("projection_dim", default=512)
    options = replace(
        config.sizes(defaults=_SIZES),
        positions=config.size("max_position_embeddings", default=77),
        activation=config.activation(default="quick_gelu"),
        epsilon=config.epsilon("layer_norm_eps", default=1e-5),
        norms="before",
        causal=True,
        # A layer behind the text tower maps into the pictures' space.
        projection=None if classes[0].endswith("CLIPTextModel") else size,
    )
    return ClipOptions(**vars(options), end=config.integer("eos_token_id", default=49407))


def _of_the_text(config: EncoderConfig) -> Mapping[str, object]:
    """Take the text tower's keys out of their object; those of both towers win."""
    values = config.values
    if _TEXT not in values:
        return values
    text, older = values[_TEXT] or {}, values.get(_OLDER) or {}
    if not isinstance(text, Mapping) or not isinstance(older, Mapping):
        raise config.refused(f"{_TEXT} and {_OLDER} are objects or null")
    if older:
        text = {key: value for key, value in text.items() if key not in _OWN}
    towers = {key: value for key, value in values.items() if key not in (_TEXT, _OLDER)}
    within = {**text, **older}
    return towers | {key: value for key, value in within.items() if key not in _OF_BOTH}


class Clip(Transformer):
    """CLIP: token ids to one embedding a text, of the token that ends it."""

    pooled: ClassVar[bool] = True
    options: ClipOptions

    def forward(
        self,
        op: OpBuilder,
        input_ids: ir.Value,
        attention_mask: ir.Value,
        token_type_ids: ir.Value | None = None,
        past: Past | None = None,
    ) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, size]``."""
        inputs = self.attention_inputs(op, attention_mask, past)
        x = self.run(op, self.embed(op, input_ids, token_type_ids), inputs)
        return self.finish(op, choose_row(op, x, self._end(op, input_ids, attention_mask)))

    def _end(self, op: OpBuilder, input_ids: ir.Value, attention_mask: ir.Value) -> ir.Value:
        """The position of the first token that ends the text, int64 ``[batch, 1]``.

        Where the configuration has the old id, it is the first token of the largest id.
        """
        end = self.options.end
        ends = input_ids if end == _OLD_END else op.Equal(input_ids, end)
        ends = op.Mul(op.Cast(ends, to=ir.DataType.INT64), attention_mask)
        return op.ArgMax(op.Cast(ends, to=ir.DataType.INT32), axis=1, keepdims=1)


NAMES = {
    "tokens": "embeddings.token_embedding",
    "positions": "embeddings.position_embedding",
    "layer": "encoder.layers.{}",
    "before_attention": "layer_norm1",
    "query": "self_attn.q_proj",
    "key": "self_attn.k_proj",
    "value": "self_attn.v_proj",
    "output": "self_attn.out_proj",
    "before_feed_forward": "layer_norm2",
    "widen": "mlp.fc1",
    "down": "mlp.fc2",
    "final_norm": "final_layer_norm",
    "projection": "text_projection",
}
IGNORED = ("vision_model.", "visual_projection.", "logit_scale", "embeddings.position_ids")
CLIP = Architecture(clip, NAMES, "text_model.", IGNORED, network=Clip)
ARCHITECTURES = {"clip": CLIP, "clip_text_model": CLIP}
