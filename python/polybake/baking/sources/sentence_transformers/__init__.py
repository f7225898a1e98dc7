"""Folders of sentence-transformers: modules.json, the modules' settings, and their weights."""

#: The remedy for a module or a setting that is not baked. An .onnx file that lies in a model's
#: folder is opened with that folder's settings.
OWN_STEPS = (
    "put the encoder's .onnx file, tokenizer.json and tokenizer_config.json, whose "
    "model_max_length is the limit then, into a folder of their own and list the steps in "
    "polybake.toml"
)
