"""An architecture: how its config.json is read, and what its checkpoint calls the parts.

A file of this folder gives its own as ``ARCHITECTURES``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from polybake.baking.encoders.encoder_config import EncoderConfig
from polybake.baking.encoders.options import Names, Options
from polybake.baking.encoders.passed_over import PASSED_OVER
from polybake.baking.encoders.transformer import Transformer
from polybake.baking.layers.stored_tensor import StoredTensor
from polybake.baking.layers.weights import Prefix

#: Tensors by their names without the architecture's prefix.
Stored = Mapping[str, StoredTensor]

__all__ = ["Architecture", "EncoderConfig", "Options", "Stored"]


@dataclass(frozen=True)
class Architecture:
    """What a ``model_type`` of config.json stands for.

    Attributes:
        options: Reads what the network computes from config.json. It reads each key that changes
            vectors; a key that the network does not compute it reads with the values that change
            nothing, and any other value is refused by its name.
        names: The checkpoint's names of the network's parts.
        prefix: What stands before each name in checkpoints that also hold a head: ``bert.``.
        ignored: Prefixes of the names of weights for other uses, such as heads for steps or other
            tasks, and of buffers that are no weights. Any other tensor is an error.
        network: Its class.
        arranged: Splits a checkpoint's tensors, or makes one of several, where they stand otherwise
            than in the network.
        own_code: Prefixes of the classes of models' own code that is known to compute the same.
    """

    options: Callable[[EncoderConfig], Options]
    names: Names
    prefix: Prefix = ""
    ignored: tuple[str, ...] = ()
    network: type[Transformer] = Transformer
    arranged: Callable[[Options, Stored], Stored] = lambda _, stored: stored
    own_code: tuple[str, ...] = ()

    def read(self, config: EncoderConfig) -> Options:
        """Read config.json."""
        config.hints = {"auto_map": "no code of a model is run"}
        code = config.values.get("auto_map")
        if isinstance(code, Mapping) and self.own_code:
            classes = [str(name).rpartition(".")[2] for name in code.values()]
            if all(name.startswith(self.own_code) for name in classes):
                config.pass_over("auto_map")
        options = self.options(config)
        config.only("is_decoder", False)
        # Weights that are quantized may look like others, and mean something else.
        config.only("quantization_config", None)
        # In transformers it makes most encoders causal, too; those that are causal have read it.
        config.only("is_causal", False, None)
        config.pass_over(*PASSED_OVER)
        return options
