"""Recurrent models, with random weights: a voice encoder as resemblyzer's, the end of a CRNN, and GRUs."""

import torch
from torch import nn

Model = tuple[nn.Module, tuple[torch.Tensor]]


def _random(*sizes: int) -> tuple[torch.Tensor]:
    return (torch.randn(sizes, generator=torch.Generator().manual_seed(len(sizes))),)


class VoiceEncoder(nn.Module):
    """float32 [1, 160, 40] mel channels of 1.6 s -> float32 [1, 256] voice."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(40, 256, 3, batch_first=True)
        self.linear = nn.Linear(256, 256)

    def forward(self, mels: torch.Tensor) -> torch.Tensor:
        _, (hidden, _) = self.lstm(mels)
        voice = torch.relu(self.linear(hidden[-1]))
        unit: torch.Tensor = voice / torch.linalg.vector_norm(voice, dim=1, keepdim=True)
        return unit


class Letters(nn.Module):
    """float32 [24, 1, 512] columns of a line of text -> float32 [24, 1, 97] letters."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(512, 256, 2, bidirectional=True)
        self.linear = nn.Linear(512, 97)

    def forward(self, columns: torch.Tensor) -> torch.Tensor:
        letters: torch.Tensor = self.linear(self.lstm(columns)[0])
        return letters


class Gated(nn.Module):
    """float32 [1, 100, 80] -> float32 [1, 100, 512], by GRUs in both directions."""

    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(80, 256, 2, batch_first=True, bidirectional=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = self.gru(x)[0]
        return states


def get_voice_model() -> Model:
    return VoiceEncoder().eval(), _random(1, 160, 40)


def get_letters_model() -> Model:
    return Letters().eval(), _random(24, 1, 512)


def get_gru_model() -> Model:
    return Gated().eval(), _random(1, 100, 80)
