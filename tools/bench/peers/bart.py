"""BART-base, encoder and decoder, with random weights: 32 input tokens, and 16 output tokens so far."""

import torch
from transformers import BartConfig, BartForConditionalGeneration


class Translator(torch.nn.Module):
    """int64 [1, 32] tokens and int64 [1, 16] output tokens so far -> float32 [1, 16, vocabulary] logits."""

    def __init__(self) -> None:
        super().__init__()
        config = BartConfig(
            d_model=768,
            encoder_layers=6,
            decoder_layers=6,
            encoder_attention_heads=12,
            decoder_attention_heads=12,
            encoder_ffn_dim=3072,
            decoder_ffn_dim=3072,
            use_cache=False,
        )
        self.bart = BartForConditionalGeneration(config)

    def forward(self, tokens: torch.Tensor, said: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.bart(input_ids=tokens, decoder_input_ids=said).logits
        return logits


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    generator = torch.Generator().manual_seed(1)
    return Translator(), (
        torch.randint(4, 50000, (1, 32), generator=generator),
        torch.randint(4, 50000, (1, 16), generator=generator),
    )
