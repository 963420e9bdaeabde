from __future__ import annotations

import ctypes
import os
import sys
import time
from pathlib import Path
from typing import Any
from unittest import mock

import numpy
from absl.testing import absltest

from tools.bench.peers import llama, worker


class DifferenceTest(absltest.TestCase):
    def difference(self, expected: list[float], found: list[float], tolerance: float = 1e-3, min_snr: float = 0) -> str:
        return worker.difference(
            [numpy.array(expected, numpy.float32)],
            [numpy.array(found, numpy.float32)],
            tolerance=tolerance,
            min_snr=min_snr,
        )

    def test_equal(self) -> None:
        self.assertEqual(self.difference([1, 100], [1.001, 100.05]), "")

    def test_off(self) -> None:
        self.assertEqual(self.difference([1, 100], [1.01, 100]), "output 0 is off by up to 0.01")

    def test_nan_is_no_result(self) -> None:
        self.assertNotEqual(self.difference([1], [float("nan")]), "")
        self.assertNotEqual(self.difference([1], [float("nan")], min_snr=1), "")

    def test_shape(self) -> None:
        self.assertEqual(self.difference([1, 1], [1]), "output 0 has the shape [1], PyTorch's [2]")

    def test_count(self) -> None:
        self.assertEqual(worker.difference([], [1], tolerance=1, min_snr=0), "1 outputs, PyTorch 0")

    def test_snr(self) -> None:
        self.assertEqual(self.difference([3, 4], [3, 4.5], min_snr=19), "")
        self.assertEqual(
            self.difference([3, 4], [3, 4.5], min_snr=21), "output 0 has an SNR of 20.0 dB, at least 21 are asked for"
        )


class EagerTest(absltest.TestCase):
    def test_pytorch_that_is_not_held(self) -> None:
        folder = Path(self.create_tempdir().full_path)
        numpy.savez(folder / "samples.npz", count=0)
        self.enter_context(mock.patch.dict(os.environ, {"ATEN_CPU_CAPABILITY": "narrow"}))
        with self.assertRaisesRegex(RuntimeError, r"^PyTorch's kernels are those for \w+, not for narrow$"):
            worker.Eager(folder, {})


class LlamaCppTest(absltest.TestCase):
    def test_tokens_in_the_cache(self) -> None:
        folder = Path(self.create_tempdir().full_path)
        numpy.savez(folder / "samples.npz", count=1, input_0_0=[[42]], input_0_1=[0])
        cached: list[int] = []
        lengths: list[int] = []
        logits = (ctypes.c_float * 3)()

        def decode(_: object, tokens: tuple[list[int], int]) -> int:
            cached.extend(tokens[0][: tokens[1]])
            lengths.append(len(cached))
            logits[:] = [len(cached)] * 3
            return 0

        def remove(_memory: object, _sequence: int, begin: int, _end: int) -> None:
            del cached[begin:]

        api = mock.MagicMock(llama_token=ctypes.c_int32)
        api.llama_n_ctx.return_value = llama.CACHE_LENGTH
        api.llama_vocab_n_tokens.return_value = 3
        api.llama_batch_get_one.side_effect = lambda tokens, count: (tokens, count)
        api.llama_decode.side_effect = decode
        api.llama_memory_seq_rm.side_effect = remove
        api.llama_get_logits.return_value = ctypes.cast(logits, ctypes.POINTER(ctypes.c_float))
        self.enter_context(mock.patch.dict(sys.modules, {"llama_cpp": api}))
        session = worker.LlamaCpp(folder, {})
        first = session.use(1)(0)
        self.assertEqual(session.use(2)(0)[0].tolist(), [[llama.PROMPT_LENGTH + 1] * 3])
        session.use(2)(0)
        self.assertEqual(first[0].tolist(), [[1] * 3])
        self.assertEqual(lengths, [1, llama.PROMPT_LENGTH, *[llama.PROMPT_LENGTH + 1] * 2])
        self.assertEqual({*cached}, {42})
        self.assertEqual([one.args[1:] for one in api.llama_set_n_threads.call_args_list], [(1, 1), (2, 2), (2, 2)])


class MedianSecondsTest(absltest.TestCase):
    def test_inputs_arrive_for_each_run(self) -> None:
        inputs = [[numpy.ones(3)], [numpy.full(3, 2.0)]]
        seen: list[float] = []

        def run(sample: int) -> list[Any]:
            (array,) = inputs[sample]
            seen.append(array.sum())
            array += 1  # As a model that changes its inputs.
            return [array]

        self.assertGreater(worker.median_seconds(inputs, run, seconds=0.01), 0)
        self.assertGreater(len(seen), 2)
        self.assertEqual(seen, [3, 6] * (len(seen) // 2))

    def test_copies_are_not_timed(self) -> None:
        class Slow:
            def __array__(self, *_: object, **__: object) -> Any:
                time.sleep(0.05)
                return numpy.ones(1)

        self.assertLess(worker.median_seconds([[]], lambda _: [Slow()], seconds=0), 0.05)


if __name__ == "__main__":
    absltest.main()
