"""Methods that share a buffer give PyTorch's outputs, by the functions for C."""

from __future__ import annotations

import ctypes
from pathlib import Path

import torch
from absl.testing import absltest

from tests.compiled.models.shared_state import LENGTH, PROMPT, WIDTH, Cache

_REPORT = Path("tests/compiled/shared_state.memory.txt")


class SharedStateTest(absltest.TestCase):
    def setUp(self) -> None:
        self._library = ctypes.CDLL(str(Path("tests/compiled/shared_state_calls.so").absolute()))
        self._library.init()

    def _succeeds(self, function: str, *arguments: object) -> None:
        self.assertEqual(getattr(self._library, function)(*arguments), 0)

    def _sum(self) -> float:
        result = ctypes.c_float()
        self._succeeds("sum", ctypes.byref(result))
        return result.value

    def _run(self, module: Cache) -> None:
        prompt = torch.randn(PROMPT, WIDTH)
        module.prefill(prompt)
        self._succeeds("prefill", ctypes.c_void_p(prompt.data_ptr()))
        for position in range(PROMPT, LENGTH):
            x, output, calls = torch.randn(1, WIDTH), torch.zeros(1, WIDTH), ctypes.c_int64()
            expected, expected_calls = module.decode(x, torch.tensor([position]))
            addresses = [ctypes.c_void_p(tensor.data_ptr()) for tensor in (x, output)]
            self._succeeds("decode", addresses[0], ctypes.c_int64(position), addresses[1], ctypes.byref(calls))
            torch.testing.assert_close(output, expected)
            self.assertEqual(calls.value, expected_calls.item())
            self.assertAlmostEqual(self._sum(), module.cache.sum().item(), places=4)

    def test_calls(self) -> None:
        torch.manual_seed(0)
        self.assertEqual(self._sum(), Cache().cache.sum().item())
        self._run(Cache())
        # A method resets what it shares with the others.
        self._library.reset()
        self.assertEqual(self._sum(), Cache().cache.sum().item())
        self._run(Cache())

    def test_report(self) -> None:
        bytes_ = sum(buffer.nbytes for buffer in Cache().buffers())
        # Buffers begin at multiples of 16.
        self.assertIn(f"State that the methods share  {bytes_ + -bytes_ % 16:,}\n", _REPORT.read_text())


if __name__ == "__main__":
    absltest.main()
