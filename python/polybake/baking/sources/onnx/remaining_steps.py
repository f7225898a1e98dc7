"""Find the steps of a sentence-transformers folder that its ONNX export does not include."""

from pathlib import Path

from polybake.baking.sources.onnx.signature import EmbeddingOutputs
from polybake.baking.sources.source import Recipe
from polybake.errors import InputError

#: The only poolings that txtai knows; it takes any other for the mean.
_TXTAI_POOLINGS = [{"step": "pool", "mode": "mean"}, {"step": "pool", "mode": "cls"}]


def remaining_steps(recipe: Recipe, outputs: EmbeddingOutputs, path: Path) -> Recipe:
    """Return the folder's steps without the steps that the chosen output already includes.

    Source: Optimum ``SentenceTransformersTransformerOnnxConfig``: ``sentence_embedding`` comes
    after all modules, but not after ``encode``'s ``truncate_dim``, and ``token_embeddings`` after
    those that change tokens; txtai ``HFOnnx``: ``embeddings`` are pooled and no more.
    """
    if outputs.first == "sentence_embedding" and any(step["step"] == "route" for step in recipe):
        raise InputError(
            f"{path}: output 'sentence_embedding' went through one route of the folder's Router; "
            "export last_hidden_state"
        )
    pools = [step for step in recipe if step["step"] == "pool"]
    if outputs.first != outputs.pooled:
        if outputs.first == "last_hidden_state" or recipe[:1] == tuple(pools[:1]):
            return recipe
    elif outputs.pooled == "sentence_embedding":
        if all(step.get("include_prompt", True) for step in pools):
            return tuple(step for step in recipe if step["step"] == "truncate")
    elif outputs.pooled == "embeddings" and recipe and recipe[0] in _TXTAI_POOLINGS:
        return recipe[1:]
    steps = ", ".join(str(step["step"]) for step in recipe) or "none"
    raise InputError(
        f"{path}: which of the folder's steps ({steps}) output {outputs.first!r} went through is "
        "not known; export last_hidden_state, or put the file, tokenizer.json and "
        "tokenizer_config.json into a folder of their own and list the steps in polybake.toml"
    )
