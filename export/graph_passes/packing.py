"""How weights lie in the constants of programs that kernels read without packing them."""

from __future__ import annotations

import torch
from torch.nn import functional

# As kPanelColumns and kPanelDepth of kernels/common/integer_product.h.
_COLUMNS = 16
_DEPTH = 4


def panels_of_rows(weight: torch.Tensor) -> torch.Tensor:
    """A weight as panels of 16 rows: 4 elements of each row, then the next 4 of each; zeros behind all."""
    rows, columns = weight.shape
    padded = functional.pad(weight, (0, -columns % _DEPTH, 0, -rows % _COLUMNS))
    panels, groups = padded.shape[0] // _COLUMNS, padded.shape[1] // _DEPTH
    return padded.reshape(panels, _COLUMNS, groups, _DEPTH).transpose(1, 2).contiguous()


def rows_of_panels(panels: torch.Tensor, rows: int, columns: int) -> torch.Tensor:
    """A weight as it was before `panels_of_rows`."""
    return panels.transpose(1, 2).reshape(panels.shape[0] * _COLUMNS, panels.shape[1] * _DEPTH)[:rows, :columns]


# Elements of 4 bits that lie in 16 bytes: of a byte, the lower half is one of the first 16 of them.
BLOCK_OF_HALVES = 32


def pack_halves(weight: torch.Tensor) -> torch.Tensor:
    """Rows of integers from -8 to 7 as bytes of two, each 8 larger. A row is of whole blocks."""
    blocks = (weight.to(torch.int16) + 8).to(torch.uint8).reshape(weight.shape[0], -1, 2, BLOCK_OF_HALVES // 2)
    return (blocks[:, :, 0] | (blocks[:, :, 1] << 4)).reshape(weight.shape[0], -1)


def unpack_halves(packed: torch.Tensor) -> torch.Tensor:
    """A weight as it was before `pack_halves`."""
    bytes_of_blocks = packed.reshape(packed.shape[0], -1, 1, BLOCK_OF_HALVES // 2)
    halves = torch.cat([bytes_of_blocks & 15, bytes_of_blocks >> 4], dim=2)
    return halves.reshape(packed.shape[0], -1).to(torch.int8) - 8
