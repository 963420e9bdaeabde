"""T5 small, encoder and decoder, with random weights."""

import torch
from transformers import T5Config, T5ForConditionalGeneration


class Translator(torch.nn.Module):
    """int64 [1, 24] tokens, their mask, and int64 [1, 8] tokens said so far -> float32 [1, 8, vocabulary] logits."""

    def __init__(self, **sizes: int) -> None:
        super().__init__()
        self.t5 = T5ForConditionalGeneration(T5Config(use_cache=False, decoder_start_token_id=0, **sizes))

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor, said: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.t5(input_ids=tokens, attention_mask=mask, decoder_input_ids=said).logits
        return logits


def _sample(length: int, seed: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    mask = (torch.arange(24).unsqueeze(0) < length).long()
    return (
        torch.randint(1000, (1, 24), generator=generator) * mask,
        mask,
        torch.randint(1000, (1, 8), generator=generator),
    )


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    return Translator(num_layers=1, vocab_size=1000), _sample(24, seed=1)


def get_full_size_model() -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    return Translator(), _sample(24, seed=1)


def get_sample_inputs() -> list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    return [_sample(24, seed=1), _sample(11, seed=2)]
