"""Generates tokens with the program: reads a prompt in chunks, then chooses one token after another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import chat_program
import numpy as np
from numpy.typing import NDArray

# Of the model: the largest number of tokens in one call, and in one text.
CHUNK = 32
CACHE_LENGTH = 256


@dataclass
class Sampler:
    """Chooses the next token. generation.h has the same in C++, and chooses the same tokens.

    Attributes:
        temperature: the logits are divided by the temperature. 0 chooses the most likely token.
        top_p: only the most likely tokens are chosen whose probabilities together reach this number.
        seed: the seed of the random numbers, MT19937.
    """

    temperature: float = 0.8
    top_p: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        self._random = np.random.RandomState(self.seed)

    def choose(self, logits: NDArray[np.float32]) -> int:
        if self.temperature == 0:
            return int(logits.argmax())
        scaled = (logits.astype(np.float64) - logits.max()) / self.temperature
        probabilities = np.exp(scaled) / np.exp(scaled).sum()
        order = np.argsort(-probabilities, kind="stable")
        sums = probabilities[order].cumsum()
        kept = min(int(np.searchsorted(sums, self.top_p)) + 1, len(order))
        chosen = int(np.searchsorted(sums[:kept], self._random.random_sample() * sums[kept - 1], side="right"))
        return int(order[min(chosen, kept - 1)])


class Generator:
    """A text that grows, with its own cache."""

    def __init__(self) -> None:
        self._program = chat_program.Program()
        self._length = 0

    def read(self, tokens: Sequence[int]) -> NDArray[np.float32]:
        """Adds tokens to the text. Returns the logits of the next token."""
        if not tokens or self._length + len(tokens) > CACHE_LENGTH:
            raise ValueError(f"{len(tokens)} tokens after {self._length}; the text has 1 to {CACHE_LENGTH} tokens")
        for first in range(0, len(tokens), CHUNK):
            chunk = np.array([tokens[first : first + CHUNK]], np.int64)
            logits = self._program.forward(chunk, np.array([self._length], np.int64))
            self._length += chunk.shape[1]
        return logits[0]

    def generate(self, prompt: Sequence[int], count: int, sampler: Sampler, end: int | None = None) -> Iterator[int]:
        """Yields at most `count` tokens after a prompt, up to the token `end`."""
        logits = self.read(prompt)
        for _ in range(count):
            token = sampler.choose(logits)
            if token == end:
                return
            yield token
            if self._length == CACHE_LENGTH:
                return
            logits = self.read([token])
