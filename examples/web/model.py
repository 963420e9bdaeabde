"""A classifier of handwritten digits, trained for a few seconds on drawings of a generator."""

import itertools
import math

import torch

_SIZE = 28
_POINTS = 48  # Of a drawing.

Point = tuple[float, float]
Stroke = list[Point]


def _arc(center: Point, radii: Point, start: int, end: int) -> Stroke:
    """A part of an ellipse, clockwise between angles; 0 is right of the center."""
    angles = [math.radians(start + (end - start) * i / 20) for i in range(21)]
    return [(center[0] + radii[0] * math.cos(angle), center[1] + radii[1] * math.sin(angle)) for angle in angles]


# The ways to draw each digit: strokes in a square with the corners (0, 0) and (1, 1).
_DRAWINGS: list[list[list[Stroke]]] = [
    [[_arc((0.5, 0.5), (0.35, 0.5), 0, 360)]],
    [
        [[(0.5, 0), (0.5, 1)]],
        [[(0.25, 0.25), (0.5, 0), (0.5, 1)]],
        [[(0.3, 0.2), (0.5, 0), (0.5, 1)], [(0.2, 1), (0.8, 1)]],
    ],
    [[[*_arc((0.5, 0.3), (0.35, 0.3), 190, 390), (0.15, 1), (0.85, 1)]]],
    [[_arc((0.45, 0.26), (0.33, 0.26), 200, 450), _arc((0.45, 0.75), (0.38, 0.25), 270, 510)]],
    [
        [[(0.6, 0), (0.1, 0.65), (0.9, 0.65)], [(0.65, 0.4), (0.65, 1)]],
        [[(0.7, 1), (0.7, 0), (0.1, 0.65), (0.95, 0.65)]],
        [[(0.2, 0), (0.15, 0.55), (0.9, 0.55)], [(0.75, 0), (0.7, 1)]],
    ],
    [
        [[(0.85, 0), (0.2, 0), (0.17, 0.42), *_arc((0.45, 0.68), (0.38, 0.32), 240, 510)]],
        [[(0.9, 0), (0.3, 0), (0.1, 0.5), (0.6, 0.42), (0.85, 0.68), (0.6, 1), (0.1, 0.9)]],
    ],
    [[[(0.75, 0), (0.4, 0.25), (0.2, 0.55)], _arc((0.5, 0.72), (0.33, 0.28), 0, 360)]],
    [[[(0.1, 0), (0.9, 0), (0.4, 1)]], [[(0.1, 0), (0.9, 0), (0.4, 1)], [(0.35, 0.5), (0.8, 0.5)]]],
    [[_arc((0.5, 0.25), (0.28, 0.25), 0, 360), _arc((0.5, 0.75), (0.34, 0.25), 0, 360)]],
    [
        [_arc((0.45, 0.28), (0.33, 0.28), 0, 360), [(0.78, 0.28), (0.75, 0.6), (0.6, 1)]],
        [_arc((0.45, 0.28), (0.33, 0.28), 0, 360), [(0.78, 0.1), (0.75, 1)]],
    ],
]


def _points(strokes: list[Stroke]) -> torch.Tensor:
    """Points on strokes, at equal distances."""
    lines = [line for stroke in strokes for line in itertools.pairwise(stroke)]
    starts, ends = torch.tensor(lines).transpose(0, 1)
    lengths = (ends - starts).norm(dim=1)
    at = torch.arange(0.5, _POINTS) / _POINTS * lengths.sum()
    line = torch.searchsorted(lengths.cumsum(0), at, right=True)
    part = (at - (lengths.cumsum(0) - lengths)[line]) / lengths[line]
    return starts[line] + part[:, None] * (ends - starts)[line]


def draw(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Draws random digits, each in another way. Returns images [count, 1, 28, 28], with 0 for paper, and the digits."""
    ways = [(digit, _points(strokes)) for digit, drawings in enumerate(_DRAWINGS) for strokes in drawings]
    weights = torch.tensor([1 / len(_DRAWINGS[digit]) for digit, _ in ways])
    chosen = torch.multinomial(weights, count, replacement=True)
    points = torch.stack([points for _, points in ways])[chosen] - 0.5

    def between(least: float, most: float) -> torch.Tensor:
        return least + (most - least) * torch.rand(count, 1)

    x, y = points.unbind(dim=2)
    for _ in range(2):  # Nobody draws straight lines.
        x, y = (
            x + between(0, 0.06) * torch.sin(between(2, 6) * y + between(0, 6)),
            y + between(0, 0.06) * torch.sin(between(2, 6) * x + between(0, 6)),
        )
    x, turn = between(0.5, 1.2) * x + between(-0.3, 0.3) * y, between(-0.2, 0.2)
    points = torch.stack([x * turn.cos() - y * turn.sin(), x * turn.sin() + y * turn.cos()], dim=2)

    # As the page does: each drawing fills a square of 20 pixels in the middle.
    least, most = points.amin(dim=1, keepdim=True), points.amax(dim=1, keepdim=True)
    points = (points - (least + most) / 2) * 20 / (most - least).amax(dim=2, keepdim=True) + _SIZE / 2
    pixels = torch.cartesian_prod(torch.arange(_SIZE) + 0.5, torch.arange(_SIZE) + 0.5).flip(1)
    distance = torch.cdist(pixels.expand(count, -1, -1), points).amin(dim=2)
    images = (between(1, 1.8) + 0.5 - distance).clamp(0, 1)
    return images.view(count, 1, _SIZE, _SIZE), torch.tensor([digit for digit, _ in ways])[chosen]


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    """The entry point of executorch_model: the module and its example inputs."""
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Conv2d(1, 8, 5),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(8, 16, 5),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(256, 10),
    )
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)
    drawings = [draw(50) for _ in range(100)]
    for images, digits in drawings * 4:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(network(images), digits).backward()
        optimizer.step()
    return torch.nn.Sequential(network, torch.nn.Softmax(dim=1)), (draw(1)[0],)
