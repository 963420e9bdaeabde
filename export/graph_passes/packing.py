"""How weights lie in the constants of programs that kernels read without packing them."""

from __future__ import annotations

import torch
from torch.nn import functional

from export.graph_passes import layouts

# A panel of bytes.
_COLUMNS = layouts.BYTE_PANEL_COLUMNS
_DEPTH = layouts.BYTE_PANEL_DEPTH


def panels_of_rows(weight: torch.Tensor) -> torch.Tensor:
    """A weight as panels of some rows: some elements of each row, then the next ones of each; zeros behind all."""
    rows, columns = weight.shape
    padded = functional.pad(weight, (0, -columns % _DEPTH, 0, -rows % _COLUMNS))
    panels, groups = padded.shape[0] // _COLUMNS, padded.shape[1] // _DEPTH
    return padded.reshape(panels, _COLUMNS, groups, _DEPTH).transpose(1, 2).contiguous()


def rows_of_panels(panels: torch.Tensor, rows: int, columns: int) -> torch.Tensor:
    """A weight as it was before `panels_of_rows`."""
    return panels.transpose(1, 2).reshape(panels.shape[0] * _COLUMNS, panels.shape[1] * _DEPTH)[:rows, :columns]


def panels_of_dynamic_rows(weight: torch.Tensor, bits: int) -> torch.Tensor:
    """A weight as `panels_of_rows` gives it, of an even number of blocks; of 4 bits, two of them in one of bytes.

    The lower half of a byte is an element of the first block.
    """
    panels = panels_of_rows(functional.pad(weight, (0, -weight.shape[1] % layouts.BYTE_PANEL_ROW_MULTIPLE)))
    if bits == 8:
        return panels
    blocks = panels.view(torch.uint8)
    return (blocks[:, 0::2] & 15) | (blocks[:, 1::2] << 4)


def rows_of_dynamic_panels(panels: torch.Tensor, rows: int, columns: int) -> torch.Tensor:
    """A weight as it was before `panels_of_dynamic_rows`."""
    if panels.dtype == torch.uint8:
        halves = torch.stack([panels << 4, panels & 240], dim=2).flatten(1, 2)
        panels = halves.view(torch.int8) >> 4
    return rows_of_panels(panels, rows, columns)


def panels_of_columns(values: torch.Tensor) -> torch.Tensor:
    """What belongs to the rows of a weight, as (panels, values of a row, rows of a panel)."""
    rows, count = values.shape
    padded = functional.pad(values, (0, 0, 0, -rows % _COLUMNS))
    return padded.reshape(-1, _COLUMNS, count).transpose(1, 2).contiguous()


def columns_of_panels(panels: torch.Tensor, rows: int) -> torch.Tensor:
    """What it was before `panels_of_columns`."""
    return panels.transpose(1, 2).flatten(0, 1)[:rows]


def panels_of_convolution(weight: torch.Tensor, groups: int) -> torch.Tensor:
    """A convolution's weight as panels of what the kernel meets at a pixel: row by row, the channels of each column.

    Where each channel is made of one channel, its row has columns of a few rows of the kernel, then of the next ones.
    """
    channels, in_channels, height, width = weight.shape
    if _is_depthwise(channels, in_channels, groups):
        padded = functional.pad(weight, (0, 0, 0, -height % _DEPTH))
        return panels_of_rows(padded.reshape(channels, -1, _DEPTH, width).transpose(2, 3).reshape(channels, -1))
    return torch.cat([panels_of_rows(part.permute(0, 2, 3, 1).flatten(1)) for part in weight.chunk(groups)])


def convolution_of_panels(
    panels: torch.Tensor, channels: int, in_channels: int, kernel_size: list[int], groups: int
) -> torch.Tensor:
    """A weight as it was before `panels_of_convolution`; `in_channels` are those of a group."""
    height, width = kernel_size
    if _is_depthwise(channels, in_channels, groups):
        rows = -(-height // _DEPTH)
        columns = rows_of_panels(panels, channels, rows * width * _DEPTH).reshape(channels, rows, width, _DEPTH)
        return columns.transpose(2, 3).reshape(channels, 1, rows * _DEPTH, width)[:, :, :height]
    parts = (
        rows_of_panels(part, channels // groups, height * width * in_channels).reshape(
            channels // groups, height, width, in_channels
        )
        for part in panels.chunk(groups)
    )
    return torch.cat(list(parts)).permute(0, 3, 1, 2)


def _is_depthwise(channels: int, in_channels: int, groups: int) -> bool:
    return in_channels == 1 and channels == groups


# Elements of 4 bits of a block: of a byte, the lower half is one of the block's first half.
BLOCK_OF_HALVES = 2 * layouts.QUANTIZED_ROW_BLOCK_BYTES


def pack_halves(weight: torch.Tensor) -> torch.Tensor:
    """Rows of integers from -8 to 7 as bytes of two, each 8 larger. A row is of whole blocks."""
    blocks = (weight.to(torch.int16) + 8).to(torch.uint8).reshape(weight.shape[0], -1, 2, BLOCK_OF_HALVES // 2)
    return (blocks[:, :, 0] | (blocks[:, :, 1] << 4)).reshape(weight.shape[0], -1)


def unpack_halves(packed: torch.Tensor) -> torch.Tensor:
    """A weight as it was before `pack_halves`."""
    bytes_of_blocks = packed.reshape(packed.shape[0], -1, 1, BLOCK_OF_HALVES // 2)
    halves = torch.cat([bytes_of_blocks & 15, bytes_of_blocks >> 4], dim=2)
    return halves.reshape(packed.shape[0], -1).to(torch.int8) - 8
