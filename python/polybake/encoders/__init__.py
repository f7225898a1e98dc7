"""The architectures that are built from a checkpoint, by ``model_type`` of config.json."""

from polybake.encoders.albert import Albert
from polybake.encoders.architecture import Architecture
from polybake.encoders.bert import Bert
from polybake.encoders.deberta import Deberta
from polybake.encoders.distilbert import DistilBert
from polybake.encoders.electra import Electra
from polybake.encoders.gemma3 import Gemma3
from polybake.encoders.gte import Gte, New
from polybake.encoders.mistral import Mistral
from polybake.encoders.modernbert import ModernBert
from polybake.encoders.mpnet import MPNet
from polybake.encoders.nomic_bert import NomicBert
from polybake.encoders.qwen2 import Qwen2
from polybake.encoders.qwen3 import Qwen3
from polybake.encoders.roberta import Roberta
from polybake.encoders.t5 import T5

ENCODERS: dict[str, type[Architecture]] = {
    "albert": Albert,
    "bert": Bert,
    "camembert": Roberta,
    "deberta-v2": Deberta,
    "distilbert": DistilBert,
    "electra": Electra,
    "gemma3_text": Gemma3,
    "gte": Gte,
    "mistral": Mistral,
    "modernbert": ModernBert,
    "mpnet": MPNet,
    "new": New,
    "nomic_bert": NomicBert,
    "qwen2": Qwen2,
    "qwen3": Qwen3,
    "roberta": Roberta,
    "t5": T5,
    "xlm-roberta": Roberta,
}

__all__ = ["ENCODERS"]
