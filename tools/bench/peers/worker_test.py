from __future__ import annotations

import ctypes
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy
import torch
from absl.testing import absltest
from torchao.quantization import Int8DynamicActivationIntxWeightConfig, quantize_
from torchao.quantization.granularity import PerGroup
from transformers import LlamaConfig, LlamaForCausalLM

from tools.bench.peers import llama, prepare, worker


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
            worker.Eager(folder, {}, 1)

    def test_weights_of_torchao(self) -> None:
        folder = Path(self.create_tempdir().full_path)
        module = torch.nn.Sequential(torch.nn.Linear(32, 4))
        quantize_(module, Int8DynamicActivationIntxWeightConfig(torch.int4, PerGroup(32)))  # type: ignore[attr-defined]
        content = SimpleNamespace(get_model=lambda: (module, (torch.ones(1, 32),)))
        with mock.patch.dict(sys.modules, {"quantized": content}):
            model = {"file": "quantized.py", "entry_point": "get_model", "has_gguf": False, "work": {}}
            prepare.main(model, folder)
        eager = worker.Eager(folder, {}, 1)
        self.assertEqual(worker.difference(eager.expected[0], eager.run(0), tolerance=1e-6, min_snr=0), "")


class LlamaCppTest(absltest.TestCase):
    def test_tokens_in_the_cache(self) -> None:
        folder = Path(self.create_tempdir().full_path)
        numpy.savez(folder / "samples.npz", count=1, input_0_0=[[42]], input_0_1=[3])
        cached: list[int] = []
        tokens_of_calls: list[list[int]] = []
        logits = (ctypes.c_float * 3)()

        def decode(_: object, tokens: tuple[list[int], int]) -> int:
            cached.extend(tokens[0][: tokens[1]])
            tokens_of_calls.append([*cached])
            logits[:] = [len(cached)] * 3
            return 0

        def remove(_memory: object, _sequence: int, begin: int, _end: int) -> None:
            del cached[begin:]

        api = mock.MagicMock(llama_token=ctypes.c_int32)
        api.llama_vocab_n_tokens.return_value = 3
        api.llama_batch_get_one.side_effect = lambda tokens, count: (tokens, count)
        api.llama_decode.side_effect = decode
        api.llama_memory_seq_rm.side_effect = remove
        api.llama_get_logits.return_value = ctypes.cast(logits, ctypes.POINTER(ctypes.c_float))
        self.enter_context(mock.patch.dict(sys.modules, {"llama_cpp": api}))
        session = worker.LlamaCpp(folder, {}, 2)
        for _ in range(2):
            self.assertEqual(session.run(0)[0].tolist(), [[4] * 3])
        self.assertEqual(tokens_of_calls, [[0, 1, 2], [0, 1, 2, 42], [0, 1, 2, 42]])
        _, settings = api.llama_init_from_model.call_args.args
        self.assertEqual((settings.n_threads, settings.n_threads_batch), (2, 2))


class PromptTest(absltest.TestCase):
    def test_the_prompt_in_the_cache_is_that_of_llama_cpp(self) -> None:
        config = LlamaConfig(
            vocab_size=200, hidden_size=8, intermediate_size=8, num_hidden_layers=2, num_attention_heads=2
        )
        config.use_cache = False
        model = LlamaForCausalLM(config).eval()
        token, position = 42, llama.PROMPT_LENGTH
        with torch.no_grad():
            expected = model(torch.tensor([[*range(position), token]])).logits[:, -1]
            decoder, inputs = llama.after_prompt(model)
            self.assertEqual([value.item() for value in inputs], [token, position])
            torch.testing.assert_close(decoder(*inputs), expected)


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
