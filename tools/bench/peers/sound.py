"""Models with 1-d convolutions, with random weights, on a second of sound: wav2vec2-base, and EnCodec's encoder."""

import torch
from torch import nn
from torch.nn.utils.parametrize import remove_parametrizations
from transformers import EncodecConfig, Wav2Vec2Config, Wav2Vec2Model
from transformers.models.encodec.modeling_encodec import EncodecConv1d, EncodecEncoder

_SPEECH_RATE, _MUSIC_RATE = 16000, 24000


def _fold_weight_norm(convolution: nn.Module) -> None:
    """Folds weight normalization into constant weights, which each inference would otherwise compute."""
    remove_parametrizations(convolution, "weight")
    # The remaining hooks are for old state dicts, and cannot be pickled.
    convolution._load_state_dict_pre_hooks.clear()


def _no_padding(_: torch.Tensor) -> int:
    return 0


class Wav2Vec2(nn.Module):
    """float32 [1, 16000] samples of sound -> float32 [1, 49, 768] states."""

    def __init__(self) -> None:
        super().__init__()
        self.wav2vec2 = Wav2Vec2Model(Wav2Vec2Config())
        _fold_weight_norm(self.wav2vec2.encoder.pos_conv_embed.conv)

    def forward(self, sound: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = self.wav2vec2(sound).last_hidden_state
        return states


class Encodec(nn.Module):
    """float32 [1, 1, 24000] samples of sound -> float32 [1, 128, 75] states."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = EncodecEncoder(EncodecConfig())
        for convolution in [module for module in self.encoder.modules() if isinstance(module, EncodecConv1d)]:
            _fold_weight_norm(convolution.conv)
            # The strides divide the sound's length, so paddings are constants, and there is no padding at the end.
            padding = int(convolution.padding_total)
            del convolution.padding_total
            convolution.padding_total = padding
            convolution._get_extra_padding_for_conv1d = _no_padding

    def forward(self, sound: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = self.encoder(sound)
        return states


def get_wav2vec2_model() -> tuple[nn.Module, tuple[torch.Tensor]]:
    return Wav2Vec2(), (torch.randn(1, _SPEECH_RATE, generator=torch.Generator().manual_seed(1)),)


def get_encodec_model() -> tuple[nn.Module, tuple[torch.Tensor]]:
    return Encodec(), (torch.randn(1, 1, _MUSIC_RATE, generator=torch.Generator().manual_seed(1)),)
