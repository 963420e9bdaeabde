"""A Llama of 12 layers, 768 features and 134 million weights, all random: one token with a cache, or a whole prompt."""

import torch
from torchao.quantization import Int8DynamicActivationIntxWeightConfig, quantize_
from torchao.quantization.granularity import PerGroup
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM
from transformers.integrations.executorch import TorchExportableModuleWithStaticCache

CACHE_LENGTH = 256
PROMPT_LENGTH = 128
# The number of weights with one scale, which is that of llama.cpp's Q4_0.
_GROUP = 32


def _llama() -> LlamaForCausalLM:
    config = LlamaConfig(
        vocab_size=32000,
        hidden_size=768,
        intermediate_size=2048,
        num_hidden_layers=12,
        num_attention_heads=12,
        num_key_value_heads=12,
        max_position_embeddings=CACHE_LENGTH,
        use_cache=False,
    )
    return LlamaForCausalLM(config).eval()


class Decoder(torch.nn.Module):
    """int64 [1, 1] token and int64 [1] position -> float32 [1, vocabulary] logits; the cache is state of the module."""

    def __init__(self, llama: LlamaForCausalLM) -> None:
        super().__init__()
        llama.config.use_cache = True
        llama.generation_config = GenerationConfig(use_cache=True, cache_implementation="static")
        self.cached = TorchExportableModuleWithStaticCache(llama, batch_size=1, max_cache_len=CACHE_LENGTH)

    def forward(self, token: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.cached(input_ids=token, cache_position=position)
        return logits[:, -1]


class Reader(torch.nn.Module):
    """int64 [1, 128] tokens of a prompt -> float32 [1, vocabulary] logits of the next token."""

    def __init__(self) -> None:
        super().__init__()
        self.llama = _llama()

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.llama(tokens, logits_to_keep=1).logits
        return logits[:, -1]


def after_prompt(llama: LlamaForCausalLM) -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    """Returns a decoder whose cache has the prompt 0, 1, 2, ..., as worker.py gives it to llama.cpp, and a token."""
    decoder = Decoder(llama)
    prompt = torch.arange(PROMPT_LENGTH)
    with torch.no_grad():
        decoder(prompt.unsqueeze(0), prompt)
    return decoder, (torch.tensor([[42]]), torch.tensor([PROMPT_LENGTH]))


def get_token_model() -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    return after_prompt(_llama())


def get_4bit_token_model() -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    llama = _llama()
    quantize_(llama, Int8DynamicActivationIntxWeightConfig(torch.int4, PerGroup(_GROUP)))  # type: ignore[attr-defined]
    return after_prompt(llama)


def get_prompt_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return Reader(), (torch.randint(1000, (1, PROMPT_LENGTH), generator=torch.Generator().manual_seed(1)),)
