"""Packs the weights of programs, so that kernels need not pack weights at run time."""

from __future__ import annotations

import torch
from torch.nn import functional

from export.graph_passes import layouts

# A panel of bytes: the rows of a panel, and the neighboring elements of each row.
_COLUMNS = layouts.BYTE_PANEL_COLUMNS
_DEPTH = layouts.BYTE_PANEL_DEPTH


def panels_of_rows(weight: torch.Tensor) -> torch.Tensor:
    """Packs a weight [rows, columns] into panels of `_COLUMNS` rows.

    The result is [panels, blocks, rows of a panel, elements]: a block has `_DEPTH` elements of each row. Zeros fill up
    the last panel and the last block.
    """
    rows, columns = weight.shape
    padded = functional.pad(weight, (0, -columns % _DEPTH, 0, -rows % _COLUMNS))
    panels, groups = padded.shape[0] // _COLUMNS, padded.shape[1] // _DEPTH
    return padded.reshape(panels, _COLUMNS, groups, _DEPTH).transpose(1, 2).contiguous()


def rows_of_panels(panels: torch.Tensor, rows: int, columns: int) -> torch.Tensor:
    """Returns the weight before `panels_of_rows`."""
    return panels.transpose(1, 2).reshape(panels.shape[0] * _COLUMNS, panels.shape[1] * _DEPTH)[:rows, :columns]


def panels_of_dynamic_rows(weight: torch.Tensor, bits: int) -> torch.Tensor:
    """Packs a weight with `panels_of_rows` into an even number of blocks.

    With 4 bits, each two blocks share one block of bytes. The lower half of a byte has an element of the first block.
    """
    panels = panels_of_rows(functional.pad(weight, (0, -weight.shape[1] % layouts.BYTE_PANEL_ROW_MULTIPLE)))
    if bits == 8:
        return panels
    blocks = panels.view(torch.uint8)
    return (blocks[:, 0::2] & 15) | (blocks[:, 1::2] << 4)


def rows_of_dynamic_panels(panels: torch.Tensor, rows: int, columns: int) -> torch.Tensor:
    """Returns the weight before `panels_of_dynamic_rows`."""
    if panels.dtype == torch.uint8:
        halves = torch.stack([panels << 4, panels & 240], dim=2).flatten(1, 2)
        panels = halves.view(torch.int8) >> 4
    return rows_of_panels(panels, rows, columns)


def panels_of_columns(values: torch.Tensor) -> torch.Tensor:
    """Packs values of a weight's rows, such as scales: [rows, values] to [panels, values of a row, rows of a panel]."""
    rows, count = values.shape
    padded = functional.pad(values, (0, 0, 0, -rows % _COLUMNS))
    return padded.reshape(-1, _COLUMNS, count).transpose(1, 2).contiguous()


def columns_of_panels(panels: torch.Tensor, rows: int) -> torch.Tensor:
    """Returns the values before `panels_of_columns`."""
    return panels.transpose(1, 2).flatten(0, 1)[:rows]


def panels_of_convolution(weight: torch.Tensor, groups: int) -> torch.Tensor:
    """Packs a convolution's weight with `panels_of_rows`, group by group.

    A row of a panel has the kernel positions of an output channel, row by row, and the input channels of each position.
    In a depthwise convolution, a row has, for each `_DEPTH` rows of the kernel, the columns one after another.
    """
    channels, in_channels, height, width = weight.shape
    if _is_depthwise(channels, in_channels, groups):
        padded = functional.pad(weight, (0, 0, 0, -height % _DEPTH))
        return panels_of_rows(padded.reshape(channels, -1, _DEPTH, width).transpose(2, 3).reshape(channels, -1))
    return torch.cat([panels_of_rows(part.permute(0, 2, 3, 1).flatten(1)) for part in weight.chunk(groups)])


def convolution_of_panels(
    panels: torch.Tensor, channels: int, in_channels: int, kernel_size: list[int], groups: int
) -> torch.Tensor:
    """Returns the weight before `panels_of_convolution`. `in_channels` is the number of input channels of a group."""
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


# The number of 4-bit elements of a block. The lower halves of the bytes have the first half of the elements.
BLOCK_OF_NIBBLES = 2 * layouts.QUANTIZED_ROW_BLOCK_BYTES


def pack_nibbles(weight: torch.Tensor) -> torch.Tensor:
    """Packs rows of integers from -8 to 7, plus 8, two in a byte. The size of a row is a multiple of a block."""
    blocks = (weight.to(torch.int16) + 8).to(torch.uint8).reshape(weight.shape[0], -1, 2, BLOCK_OF_NIBBLES // 2)
    return (blocks[:, :, 0] | (blocks[:, :, 1] << 4)).reshape(weight.shape[0], -1)


def unpack_nibbles(packed: torch.Tensor) -> torch.Tensor:
    """Returns the weight before `pack_nibbles`."""
    bytes_of_blocks = packed.reshape(packed.shape[0], -1, 1, BLOCK_OF_NIBBLES // 2)
    halves = torch.cat([bytes_of_blocks & 15, bytes_of_blocks >> 4], dim=2)
    return halves.reshape(packed.shape[0], -1).to(torch.int8) - 8
