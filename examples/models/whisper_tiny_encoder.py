"""The encoder of Whisper-tiny, with random weights: 30 seconds of speech as a spectrogram in, states out."""

import torch
from transformers import WhisperConfig
from transformers.models.whisper.modeling_whisper import WhisperEncoder


class Encoder(torch.nn.Module):
    """float32 [1, 80, 2 * positions] logarithmic mel spectrogram -> float32 [1, positions, 384] states."""

    def __init__(self, *, layers: int, positions: int) -> None:
        super().__init__()
        config = WhisperConfig(
            d_model=384,
            encoder_layers=layers,
            encoder_attention_heads=6,
            encoder_ffn_dim=1536,
            max_source_positions=positions,
        )
        self.encoder = WhisperEncoder(config)

    def forward(self, spectrogram: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = self.encoder(spectrogram).last_hidden_state
        return states


def _model(*, layers: int, positions: int) -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    spectrogram = torch.randn(1, 80, 2 * positions, generator=torch.Generator().manual_seed(1))
    return Encoder(layers=layers, positions=positions), (spectrogram,)


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return _model(layers=2, positions=300)


def get_full_size_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return _model(layers=4, positions=1500)
