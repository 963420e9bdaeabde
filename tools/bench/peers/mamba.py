"""Mamba, with random weights: a selective scan, which is a Python loop over the tokens."""

import torch
from transformers import MambaConfig, MambaModel


class Mamba(torch.nn.Module):
    """int64 [1, 64] tokens -> float32 [1, 64, 384] states."""

    def __init__(self) -> None:
        super().__init__()
        self.mamba = MambaModel(MambaConfig(vocab_size=8000, hidden_size=384, num_hidden_layers=4, use_cache=False))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = self.mamba(tokens).last_hidden_state
        return states


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return Mamba(), (torch.randint(0, 8000, (1, 64), generator=torch.Generator().manual_seed(1)),)
