"""A layer of BERT's base size with random weights: float32 [1, 64, 768]."""

import torch
from transformers import BertConfig
from transformers.models.bert.modeling_bert import BertLayer


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = BertLayer(BertConfig(attn_implementation="sdpa"))

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        result = self.layer(states)
        return result if isinstance(result, torch.Tensor) else result[0]


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    torch.manual_seed(0)
    return Layer(), (torch.randn(1, 64, 768),)
