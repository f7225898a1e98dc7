"""The architectures that are built from a checkpoint, by ``model_type`` of config.json."""

from polybake.encoders.bert import Bert

ENCODERS = {"bert": Bert}

__all__ = ["ENCODERS"]
