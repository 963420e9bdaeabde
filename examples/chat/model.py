"""The model file of the chat: a small Llama with random weights of 4 bits."""

import torch
from torchao.quantization import IntxWeightOnlyConfig, quantize_
from torchao.quantization.granularity import PerGroup

from examples.chat.llama import Config, Llama

# The largest number of tokens in one call: a prompt is read in chunks, the answer is written token by token.
CHUNK = 32
_PROMPT = (12, 250, 7, 99, 410, 3)
_DECODED = 8


def make_llama() -> Llama:
    torch.manual_seed(0)
    return Llama(Config()).eval()


def get_model() -> tuple[Llama, tuple[torch.Tensor, torch.Tensor]]:
    llama = make_llama()
    # llama.load_state_dict(...) would load real weights here, before the quantization.
    quantize_(llama, IntxWeightOnlyConfig(torch.int4, PerGroup(32)))  # type: ignore[attr-defined]
    return llama, _call(_PROMPT, 0)


def get_dynamic_shapes() -> tuple[object, object]:
    return {1: torch.export.Dim("tokens", min=1, max=CHUNK)}, None


def get_sample_inputs() -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Reads the prompt in one call, then decodes the most likely tokens."""
    llama, _ = get_model()
    calls = [_call(_PROMPT, 0)]
    with torch.no_grad():
        for position in range(len(_PROMPT), len(_PROMPT) + _DECODED):
            calls.append(_call((int(llama(*calls[-1]).argmax()),), position))
    return calls


def _call(tokens: tuple[int, ...], start: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor([tokens]), torch.tensor([start])
