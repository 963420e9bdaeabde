"""`my_ops::softclip`: limit * tanh(x / limit), a smooth clamp to [-limit, limit], with all that PyTorch can ask of it.

Its kernel computes in NumPy, so PyTorch can neither differentiate nor trace it: what it must know is registered.
"""

import numpy as np
import torch


@torch.library.custom_op("my_ops::softclip", mutates_args=())
def softclip(x: torch.Tensor, limit: float) -> torch.Tensor:
    """limit * tanh(x / limit), elementwise; any shape, float32 or float64, on the CPU."""
    return torch.from_numpy(np.asarray(limit * np.tanh(x.detach().numpy() / limit), dtype=x.detach().numpy().dtype))


@softclip.register_fake
def _(x: torch.Tensor, limit: float) -> torch.Tensor:
    """The result's shape, dtype and strides, for torch.compile and torch.export."""
    return torch.empty_like(x)


def _setup_context(
    ctx: torch.autograd.function.FunctionCtx, inputs: tuple[torch.Tensor, float], output: torch.Tensor
) -> None:
    """What the gradient needs of the call."""
    _, ctx.limit = inputs  # type: ignore[attr-defined]
    ctx.save_for_backward(output)


def _backward(ctx: torch.autograd.function.BackwardCFunction, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
    """The derivative is 1 - tanh(x / limit)^2; none for limit."""
    (output,) = ctx.saved_tensors
    return grad * (1 - (output / ctx.limit) ** 2), None  # type: ignore[attr-defined]


softclip.register_autograd(_backward, setup_context=_setup_context)


@softclip.register_vmap
def _(info: object, in_dims: tuple[int | None, None], x: torch.Tensor, limit: float) -> tuple[torch.Tensor, int | None]:
    """Elementwise, so a batch is one call; the batch stays where it was."""
    return softclip(x, limit), in_dims[0]
