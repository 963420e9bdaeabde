"""The models of web_bench, with random weights."""

import torch
from transformers import BertConfig
from transformers.models.bert.modeling_bert import BertLayer

import examples.mobilenet_v2.model
import examples.models.mobilenet_v2

Model = tuple[torch.nn.Module, tuple[torch.Tensor]]


class _Layer(torch.nn.Module):
    """float32 [1, 64, 768] -> the same."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = BertLayer(BertConfig(attn_implementation="sdpa"))

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        result = self.layer(states)
        return result if isinstance(result, torch.Tensor) else result[0]


def bert_layer() -> Model:
    return _Layer(), (torch.randn(1, 64, 768),)


def mobilenet_v2() -> Model:
    return examples.models.mobilenet_v2.get_model()


def mobilenet_v2_small() -> Model:
    return examples.mobilenet_v2.model.get_model()
