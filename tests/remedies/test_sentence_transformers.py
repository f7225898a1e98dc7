"""What folders of sentence-transformers are refused for."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from models.files.task_models import write_colbert
from models.folders.messages import CHATML, write_messages
from models.folders.tiny_folders import (
    change_json,
    write_json,
    write_router,
    write_sentence_transformers,
    write_two_encoders,
)
from models.folders.torch_saved import write_torch
from models.onnx.tiny_onnx import write_encoder
from remedies.followed import MEAN, bake, refused

POOLING = ("Pooling", {"pooling_mode": "mean"})
DENSE = ("Dense", {"in_features": 12, "out_features": 5, "bias": False})
LINEAR = {"linear.weight": np.random.default_rng(2).normal(size=(5, 12)).astype(np.float32)}
ROUTER = "sentence_transformers.base.modules.router.Router"
NORMALIZE = "sentence_transformers.base.modules.normalize.Normalize"
TASK = "{%- if task == 'query' %}{{ 'Q' }}{%- endif %}"


def write_dense(folder: Path) -> Path:
    """A model with a linear layer."""
    write_sentence_transformers(folder, POOLING, DENSE)
    save_file(LINEAR, folder / "2_Dense" / "model.safetensors")
    return folder


def list_modules(folder: Path, *kinds: str) -> None:
    """Write modules.json anew, each module in its old folder."""
    listed = json.loads((folder / "modules.json").read_text("utf-8"))
    for one, kind in zip(listed, kinds, strict=False):
        one["type"] = kind
    write_json(folder / "modules.json", listed)


@pytest.mark.parametrize(
    ("name", "kinds", "changes", "message"),
    [
        (
            "sentence_transformers/module.py: unknown module type",
            ["sentence_transformers.models.Transformer", "sentence_transformers.models.AudioModel"],
            {},
            "unknown module type '.*AudioModel'; known are: ",
        ),
        (
            "sentence_transformers/module.py: no code of a model is run",
            ["sentence_transformers.models.Transformer", "own.Pooling"],
            {},
            "module type 'own.Pooling' is none of sentence-transformers, .*, or",
        ),
        (
            "sentence_transformers/module_recipe.py: stands after the first module",
            ["sentence_transformers.models.Transformer"] * 2,
            {},
            "Transformer stands after the first module; expected",
        ),
        (
            "sentence_transformers/module_recipe.py: expected {expected} there",
            [],
            {"module_input_name": "token_scores"},
            "module_input_name is 'token_scores' .*; expected|, expected .* there",
        ),
        (
            "sentence_transformers/folder.py: {found}; expected one of",
            ["sentence_transformers.models.Pooling"],
            {},
            "begins with Pooling; expected one of: Transformer",
        ),
        (
            "sentence_transformers/saved_modules.py: {self.file}",
            [],
            {"scale": 2},
            "unknown key scale = 2, which may change vectors",
        ),
    ],
)
def test_the_steps_are_listed(
    tmp_path: Path, name: str, kinds: list[str], changes: dict[str, object], message: str
) -> None:
    """The encoder's export and its tokenizer lie in a folder of their own."""
    folder = write_sentence_transformers(tmp_path / "model", POOLING, ("Normalize", {}))
    list_modules(folder, *kinds)
    place = "2_Normalize" if "module_input_name" in changes else "1_Pooling"
    change_json(folder / place / "config.json", **changes)
    with refused(name, f"{message}.*; put the encoder's .onnx|or put the enc"):
        bake(folder)
    own = tmp_path / "own"
    write_encoder(tmp_path / "export")
    own.mkdir()
    shutil.copy(tmp_path / "export" / "model.onnx", own)
    for file in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(folder / file, own)
    bake(own / "model.onnx", steps=[*MEAN, {"step": "normalize"}])


def test_a_setting_of_the_encoder(tmp_path: Path) -> None:
    """A key that is not known is allowed, or the export has it."""
    folder = write_sentence_transformers(tmp_path / "model", POOLING)
    write_json(folder / "sentence_bert_config.json", {"scale": 2})
    name = "sentence_transformers/transformer.py: {OWN_STEPS}"
    with refused(name, r'unknown key scale = 2, .*; or, .* say allow_unknown = \["scale"\] below'):
        bake(folder)
    bake(folder, allow_unknown=["scale"])


def test_settings_of_the_model(tmp_path: Path) -> None:
    """They are corrected, or polybake.toml says them."""
    folder = write_sentence_transformers(tmp_path / "model", POOLING)
    file = folder / "config_sentence_transformers.json"
    write_json(file, {"prompts": {"query": "q: "}, "default_prompt_name": "title"})
    name = "sentence_transformers/model_settings.py: correct it there, or remove"
    with refused(name, "'query', found 'title'; correct it there, or remove it and list prompts"):
        bake(folder)
    change_json(file, default_prompt_name="query")
    bake(folder)
    file.unlink()
    bake(folder, prompts={"query": "q: "}, steps=MEAN)


def test_an_activation_of_another_class(tmp_path: Path) -> None:
    """One that is known is named, or a python step computes it."""
    folder = write_dense(tmp_path / "model")
    file = folder / "2_Dense" / "config.json"
    change_json(file, activation_function="torch.nn.Softsign")
    with refused("sources/torch_classes.py: unknown class", "Softsign'; name one of .*, or"):
        bake(folder)
    np.save(tmp_path / "weight.npy", LINEAR["linear.weight"])
    own = "def step(op, x):\n    return op.Softsign(x)\n"
    (tmp_path / "step.py").write_text(own)
    linear = {"step": "dense", "weight": "weight.npy", "activation": "identity"}
    bake(folder, steps=[*MEAN, linear, {"step": "python", "file": "step.py"}])
    change_json(file, activation_function="torch.nn.Tanh")
    bake(folder)


def test_a_module_s_pickle(tmp_path: Path) -> None:
    """Its tensors are read if the user says so."""
    folder = write_dense(tmp_path / "model")
    (folder / "2_Dense" / "model.safetensors").unlink()
    write_torch(folder / "2_Dense" / "pytorch_model.bin", LINEAR)
    name = "sources/module_weights.py: model.safetensors"
    with refused(name, 'has no model.safetensors; save .*; or, .* pickle = "tensors" below'):
        bake(folder)
    bake(folder, pickle="tensors")


@pytest.mark.parametrize(
    ("name", "wrong", "message", "right"),
    [
        (
            "route_limits.py: lower it in sentence_bert_config.json",
            {"query_length": 40},
            "is 40, and the model takes 39 tokens; lower it in sentence_bert_config.json",
            {"query_length": 39},
        ),
        (
            "route_limits.py: leave the encoder option out",
            {"query_length": 9},
            "routes text, query, document are cut .*; leave the encoder option out",
            {"query_length": 9},
        ),
        (
            "route_limits.py: truncation_side is left",
            {"query_length": 9},
            "set it to right in tokenizer_config.json",
            {"query_length": 9},
        ),
    ],
)
def test_limits_of_routes(
    tmp_path: Path, name: str, wrong: dict[str, Any], message: str, right: dict[str, Any]
) -> None:
    """The setting is changed where the remedy says."""
    folder = write_sentence_transformers(tmp_path / "model", POOLING)
    change_json(folder / "config.json", model_type="roberta", pad_token_id=0)
    write_json(folder / "sentence_bert_config.json", wrong)
    if "truncation_side" in name:
        change_json(folder / "tokenizer_config.json", truncation_side="left")
    option = {"encoder": "torch"} if "option" in name else {}
    with refused(name, message):
        bake(folder, **option)
    write_json(folder / "sentence_bert_config.json", right)
    change_json(folder / "tokenizer_config.json", truncation_side="right")
    bake(folder)


def test_limits_within_a_router(tmp_path: Path) -> None:
    """max_seq_length stands in their place, of each encoder or of the one before the router."""
    folder = write_two_encoders(tmp_path / "model", query_length=8)
    name = "sentence_transformers/folder.py: {NOT_IN_ROUTERS}"
    with refused(name, "q_bert: has query_length or document_length, .*; set max_seq_length in"):
        bake(folder)
    write_json(folder / "q_bert" / "sentence_bert_config.json", {"max_seq_length": 8})
    bake(folder)
    folder = write_sentence_transformers(tmp_path / "behind", POOLING, ("Router", {}))
    (folder / "2_Router" / "config.json").unlink()
    routes = {"query": ["one"], "document": []}
    write_router(folder / "2_Router", routes, {"one": NORMALIZE}, default_route="document")
    write_json(folder / "sentence_bert_config.json", {"query_length": 8})
    with refused(name, "behind: has query_length .*; set max_seq_length in its sentence_bert"):
        bake(folder)
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 8})
    bake(folder)


def test_routes_of_other_tokenizers(tmp_path: Path) -> None:
    """Each route's encoder bakes as a model of its own."""
    folder = write_two_encoders(tmp_path / "model", do_lower_case=True)
    name = "sentence_transformers/encoder_per_route.py: different tokenizers"
    with refused(name, r"\(normalizer: .* and .*\); bake each route as a model of its own"):
        bake(folder)
    for route in ("q_bert", "d_bert"):
        bake(folder / route, steps=MEAN)


def test_an_export_of_one_route(tmp_path: Path) -> None:
    """The folder bakes itself."""
    folder = write_two_encoders(tmp_path / "model")
    file = write_encoder(folder)
    name = "sentence_transformers/folder.py: an .onnx file is one encoder"
    with refused(name, "routes query, document has an encoder .*; give the folder itself"):
        bake(file)
    bake(folder)


@pytest.mark.parametrize(
    ("name", "expansion", "message"),
    [
        (
            "token_vectors.py: the model takes",
            {"strategy": "fixed", "length": 99, "token": "[MASK]"},
            "filled up to 99 tokens, and the model takes 32; lower the length of query_expansion",
        ),
        (
            "token_vectors.py: name one as the token of query_expansion",
            {"strategy": "fixed", "length": 9, "token": "no"},
            "with 'no', which is no token of the tokenizer; name one as the token of",
        ),
    ],
)
def test_queries_that_are_filled_up(
    tmp_path: Path, name: str, expansion: dict[str, object], message: str
) -> None:
    """The expansion is one that the model takes."""
    folder = write_colbert(tmp_path / "model", query_expansion=expansion)
    with refused(name, message):
        bake(folder)
    right = {"strategy": "fixed", "length": 9, "token": "[MASK]"}
    change_json(folder / "sentence_bert_config.json", query_expansion=right)
    bake(folder)


def test_queries_of_an_export_and_of_the_left(tmp_path: Path) -> None:
    """Both settings are taken back."""
    folder = write_colbert(tmp_path / "model")
    with refused("token_vectors.py: leave the encoder option out", "before .*; leave the encoder"):
        bake(folder, encoder="torch")
    change_json(folder / "tokenizer_config.json", padding_side="left")
    with refused(
        "token_vectors.py: padding_side is left", "set it to right in tokenizer_config.json"
    ):
        bake(folder)
    change_json(folder / "tokenizer_config.json", padding_side="right")
    bake(folder)


@pytest.mark.parametrize(
    ("name", "template", "message"),
    [
        (
            "message_template.py: its settings say that texts go through one",
            None,
            "download chat_template.jinja too, or save the model again",
        ),
        (
            "message_template.py: that is the default",
            "a" * 300_000,
            "at most 262144 characters that is the default; save one as chat_template.jinja",
        ),
        (
            "message_template.py: cannot be rendered",
            "{{ messages | nothing }}",
            r"cannot be rendered \(.*nothing.*\); expected .*; save such a template",
        ),
        (
            "message_template.py: each once and in this order",
            "{{ 'hello' }}",
            "does not write the messages of the roles user, .*; save a template that does",
        ),
        (
            "message_template.py: changes texts such as",
            CHATML.replace(".content", ".content | trim"),
            "changes texts such as ' ', .*; save one that writes them as they are",
        ),
    ],
)
def test_a_template_is_saved(tmp_path: Path, name: str, template: str | None, message: str) -> None:
    """Another one, under the name that the remedy says."""
    folder = write_messages(tmp_path / "model", template)
    with refused(name, message):
        bake(folder)
    (folder / "chat_template.jinja").write_text(CHATML, encoding="utf-8")
    bake(folder)


@pytest.mark.parametrize(
    ("name", "template", "prompts", "message", "file", "right"),
    [
        (
            "messages.py: rename it, or make it",
            CHATML,
            {"message": "a"},
            "has a prompt 'message', .*; rename it, or make it default_prompt_name",
            "config_sentence_transformers.json",
            [{"prompts": {"web": "a"}}, {"default_prompt_name": "message"}],
        ),
        (
            "messages.py: one of them as default_prompt_name",
            CHATML + "{{ messages | length }}",
            {"web": "a"},
            "'.*1' behind .* '.*2' with another; give all prompts, query and document, too, the",
            "config_sentence_transformers.json",
            [
                {
                    "prompts": dict.fromkeys(("query", "document"), "a"),
                    "default_prompt_name": "query",
                }
            ],
        ),
        (
            "messages.py: its chat template reads task",
            CHATML + TASK,
            {},
            "set processing_kwargs.chat_template.task in sentence_bert_config.json to query or",
            "sentence_bert_config.json",
            [
                {"processing_kwargs": {"chat_template": {"task": one}}}
                for one in ("query", "document")
            ],
        ),
    ],
)
def test_prompts_of_messages(
    tmp_path: Path,
    name: str,
    template: str,
    prompts: dict[str, str],
    message: str,
    file: str,
    right: list[dict[str, Any]],
) -> None:
    """The model's own settings are changed."""
    folder = write_messages(tmp_path / "model", template, prompts=prompts)
    settings = (folder / file).read_text("utf-8")
    with refused(name, message):
        bake(folder)
    for changes in right:
        (folder / file).write_text(settings, encoding="utf-8")
        change_json(folder / file, **changes)
        bake(folder)
