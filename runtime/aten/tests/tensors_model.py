"""Operators with optional tensors, lists of tensors and several outputs; channels last; state; a write to an input."""

import torch

_Tensors = tuple[torch.Tensor, ...]


class Tensors(torch.nn.Module):
    calls: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.with_bias = torch.nn.Conv2d(3, 4, 3)
        self.without_bias = torch.nn.Conv2d(4, 2, 1, bias=False)
        self.norm = torch.nn.LayerNorm(6)
        self.plain_norm = torch.nn.LayerNorm(6, elementwise_affine=False)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, image: torch.Tensor, index: torch.Tensor, written: torch.Tensor) -> _Tensors:
        self.calls += 1
        written.mul_(self.calls)
        convolved = self.without_bias(self.with_bias(image))
        rows = image[0, 0]
        best, where = rows.topk(2)
        largest, at = rows.max(dim=0)
        return (
            convolved,
            self.norm(rows),
            self.plain_norm(rows),
            rows[:, index],
            torch.index_put(rows, (index,), torch.ones(6)),
            torch.cat([rows, rows, rows[:1]]),
            torch.stack([rows, rows], dim=1),
            *rows.split([2, 4], dim=1),
            *rows.unbind(0),
            best,
            where,
            largest,
            at,
            *rows.sort(descending=True),
            image.contiguous(memory_format=torch.channels_last) + 1,
            image.to(torch.float64, memory_format=torch.channels_last),
            self.calls.clone(),
        )


def get_model() -> tuple[torch.nn.Module, _Tensors]:
    return Tensors(), get_sample_inputs()[0]


def get_sample_inputs() -> list[_Tensors]:
    image = torch.randn(1, 3, 6, 6, generator=torch.Generator().manual_seed(0))
    return [
        (image, torch.tensor([2, 0]), torch.tensor([3.0, 4.0])),
        (image * 2, torch.tensor([5, 1]), torch.tensor([5.0, 6.0])),
    ]
