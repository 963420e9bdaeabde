"""A Llama of two layers with random weights, which decodes one token at a time into a static KV cache."""

import torch
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM
from transformers.integrations.executorch import TorchExportableModuleWithStaticCache

_VOCABULARY = 256
_CACHE_LENGTH = 64
_PROMPT = (1, 17, 4, 42)
_DECODED = 12


class Decoder(torch.nn.Module):
    """One step of decoding: int64 [1, 1] token and int64 [1] position -> float32 [1, vocabulary] logits.

    The keys and values of the tokens before are state of the module, and of the program.
    """

    def __init__(self) -> None:
        super().__init__()
        config = LlamaConfig(
            vocab_size=_VOCABULARY,
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=_CACHE_LENGTH,
        )
        llama = LlamaForCausalLM(config).eval()
        llama.generation_config = GenerationConfig(use_cache=True, cache_implementation="static")
        self.cached = TorchExportableModuleWithStaticCache(llama, batch_size=1, max_cache_len=_CACHE_LENGTH)

    def forward(self, token: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.cached(input_ids=token, cache_position=position)
        return logits[:, -1]


def _step(token: int, position: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor([[token]]), torch.tensor([position])


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    torch.manual_seed(0)
    return Decoder(), _step(_PROMPT[0], 0)


def get_sample_inputs() -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Feeds the prompt, then the most likely token of each step, as PyTorch decodes it."""
    model, _ = get_model()
    model.eval()
    steps: list[tuple[torch.Tensor, torch.Tensor]] = []
    tokens = list(_PROMPT)
    with torch.no_grad():
        for position in range(len(_PROMPT) + _DECODED):
            steps.append(_step(tokens[position], position))
            most_likely = int(model(*steps[-1]).argmax())
            if position + 1 == len(tokens):
                tokens.append(most_likely)
    return steps
