"""A base model, and the same model with each of two LoRA adapters."""

import torch

_TOKENS, _WIDTH, _INNER, _BLOCKS, _RANK = 1000, 128, 512, 4, 4


class Adapted(torch.nn.Module):
    """A linear layer of the base, and the two small matrices of an adapter."""

    def __init__(self, base: torch.nn.Linear) -> None:
        super().__init__()
        self.base = base
        self.down = torch.nn.Linear(base.in_features, _RANK, bias=False)
        self.up = torch.nn.Linear(_RANK, base.out_features, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        adapted: torch.Tensor = self.base(x) + self.up(self.down(x))
        return adapted


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(_WIDTH)
        self.widen: torch.nn.Module = torch.nn.Linear(_WIDTH, _INNER)
        self.narrow: torch.nn.Module = torch.nn.Linear(_INNER, _WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.narrow(torch.nn.functional.gelu(self.widen(self.norm(x))))


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(_TOKENS, _WIDTH)
        self.blocks = torch.nn.Sequential(*(Block() for _ in range(_BLOCKS)))
        self.head = torch.nn.Linear(_WIDTH, 10)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.head(self.blocks(self.embed(tokens)).mean(1))
        return scores


def _model() -> Model:
    """Returns the base, as from a checkpoint."""
    torch.manual_seed(0)
    return Model().eval()


def _adapted(seed: int) -> Model:
    """Returns the base with an adapter, as from a training that changes the adapter only."""
    model = _model()
    torch.manual_seed(seed)
    for block in model.blocks:
        assert isinstance(block, Block)
        for name in ("widen", "narrow"):
            setattr(block, name, Adapted(getattr(block, name)))
    return model


def get_inputs() -> tuple[torch.Tensor]:
    return (torch.arange(0, 96, 6).reshape(2, 8),)


def get_base() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return _model(), get_inputs()


def get_with_a() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return _adapted(seed=1), get_inputs()


def get_with_b() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return _adapted(seed=2), get_inputs()
