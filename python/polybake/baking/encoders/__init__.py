"""The architectures that are built from a checkpoint, by ``model_type`` of config.json."""

from polybake.baking.encoders.albert import Albert
from polybake.baking.encoders.architecture import Architecture
from polybake.baking.encoders.bart import Bart
from polybake.baking.encoders.bert import Bert
from polybake.baking.encoders.clip import Clip
from polybake.baking.encoders.deberta import Deberta
from polybake.baking.encoders.deberta_v1 import DebertaV1
from polybake.baking.encoders.distilbert import DistilBert
from polybake.baking.encoders.electra import Electra
from polybake.baking.encoders.eurobert import EuroBert
from polybake.baking.encoders.gemma import Gemma
from polybake.baking.encoders.gemma3 import Gemma3
from polybake.baking.encoders.gpt2 import Gpt2
from polybake.baking.encoders.gte import Gte, New
from polybake.baking.encoders.jina_bert import JinaBert, JinaBertQK
from polybake.baking.encoders.jina_embeddings_v3 import JinaEmbeddingsV3
from polybake.baking.encoders.llama import Llama, LlamaBidirec
from polybake.baking.encoders.mistral import Mistral
from polybake.baking.encoders.modernbert import ModernBert
from polybake.baking.encoders.mpnet import MPNet
from polybake.baking.encoders.nomic_bert import NomicBert
from polybake.baking.encoders.qwen2 import Qwen2
from polybake.baking.encoders.qwen3 import PplxQwen3, Qwen3
from polybake.baking.encoders.roberta import Roberta
from polybake.baking.encoders.t5 import T5
from polybake.baking.encoders.xlm_roberta_flash import XlmRobertaFlash

ENCODERS: dict[str, type[Architecture]] = {
    "albert": Albert,
    "bart": Bart,
    "bert": Bert,
    "bidirectional_pplx_qwen3": PplxQwen3,
    "camembert": Roberta,
    "clip": Clip,
    "clip_text_model": Clip,
    "deberta": DebertaV1,
    "deberta-v2": Deberta,
    "distilbert": DistilBert,
    "electra": Electra,
    "eurobert": EuroBert,
    "gemma": Gemma,
    "gemma3_text": Gemma3,
    "gpt2": Gpt2,
    "gte": Gte,
    "jina_bert": JinaBert,
    "jina_bert_qk": JinaBertQK,
    "jina_embeddings_v3": JinaEmbeddingsV3,
    "llama": Llama,
    "llama_bidirec": LlamaBidirec,
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
    "xlm_roberta_flash": XlmRobertaFlash,
}

__all__ = ["ENCODERS"]
