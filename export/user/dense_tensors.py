"""Makes tensors dense: elements do not overlap, and there are no gaps between elements.

A tensor of PyTorch may share elements, as a result of expand() does, or have gaps between elements. A program's inputs
are contiguous or channels-last. A program's constants and state are contiguous. ExecuTorch's exporter does not write or
copy tensors of any other order.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch


def channels_last_order(dims: int) -> tuple[int, ...]:
    """Returns the channels-last dim order of images (4 dimensions) or volumes (5 dimensions)."""
    return (0, *range(2, dims), 1)


CHANNELS_LAST = [*channels_last_order(4)]


def dim_order(tensor: torch.Tensor) -> list[int] | None:
    """Returns the dimensions from the outermost to the innermost in memory; None if a program cannot have the tensor.

    The result is the contiguous order, or channels-last for a tensor of 4 dimensions.
    """
    contiguous = list(range(tensor.dim()))
    for order in (contiguous, CHANNELS_LAST)[: 2 if tensor.dim() == 4 else 1]:
        usual = torch.empty_permuted(tensor.shape, order, device="meta").stride()
        places = zip(tensor.shape, tensor.stride(), usual, strict=True)
        if all(size == 1 or stride == expected for size, stride, expected in places):
            return order
    return None


def usual_dim_order(sizes: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    """Returns the contiguous order or channels-last if memory in a dim order is in that order; otherwise the dim order.

    Dimensions of size 1 have no place in memory. So an image or a volume of one channel or one pixel is contiguous.
    """
    moved = [dim for dim in order if sizes[dim] != 1]
    dims = len(sizes)
    for usual in (range(dims), channels_last_order(dims))[: 2 if dims in (4, 5) else 1]:
        if moved == [dim for dim in usual if sizes[dim] != 1]:
            return tuple(usual)
    return tuple(order)


def dense(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the tensor itself if a program can have it; otherwise a copy, which is contiguous for unusual orders."""
    tensor = tensor.resolve_conj().resolve_neg()
    order = dim_order(tensor)
    if order is None:
        return contiguous(tensor)
    # Other strides of dimensions of size 1 would make PyTorch's fake kernels choose another order for results.
    usual = torch.empty_permuted(tensor.shape, order, dtype=tensor.dtype)
    return tensor if tensor.stride() == usual.stride() else usual.copy_(tensor)


def contiguous(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a contiguous copy. Tensor.contiguous() would keep unusual strides of dimensions of size 1."""
    return tensor.clone(memory_format=torch.contiguous_format)
