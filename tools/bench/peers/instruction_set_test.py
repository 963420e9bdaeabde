from __future__ import annotations

from unittest import mock

from absl.testing import absltest

from kernels.testing import processor
from tools.bench.peers import instruction_set
from tools.bench.peers.instruction_set import InstructionSet

_OF_PROCESSOR = ["avx512_bf16", "avx512", "avx2", "baseline"]


class InstructionSetTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.enter_context(mock.patch.object(processor, "instruction_sets", lambda: _OF_PROCESSOR))

    def test_widest_that_is_built(self) -> None:
        self.assertEqual(instruction_set.choose("", "all"), InstructionSet("avx512_bf16", "avx512_bf16"))
        self.assertEqual(instruction_set.choose("", "avx2,avx512"), InstructionSet("avx512", "avx512_bf16"))

    def test_choice(self) -> None:
        self.assertEqual(instruction_set.choose("avx2", "all"), InstructionSet("avx2", "avx512_bf16"))
        with self.assertRaisesRegex(ValueError, "^sse is none of the sets of this build and this processor: avx512_bf"):
            instruction_set.choose("sse", "all")
        with self.assertRaisesRegex(ValueError, "avx2 is none of .*: avx512$"):
            instruction_set.choose("avx2", "avx512")
        with self.assertRaisesRegex(ValueError, "compiled for i8mm_bf16, and this processor has avx512_bf16,"):
            instruction_set.choose("", "i8mm_bf16")

    def test_nobody_is_held_to_what_the_processor_has(self) -> None:
        for name in _OF_PROCESSOR:
            widest = InstructionSet(name, name)
            self.assertEqual(widest.environment, {"EXECUTORCH_INSTRUCTION_SET": name})
            self.assertEqual((widest.limit, widest.masked, widest.left_out), ("", (), {}))

    def test_pytorch_is_held(self) -> None:
        avx2 = InstructionSet("avx2", "avx512")
        self.assertEqual(
            avx2.environment,
            {
                "ATEN_CPU_CAPABILITY": "avx2",
                "EXECUTORCH_INSTRUCTION_SET": "avx2",
                "MKL_ENABLE_INSTRUCTIONS": "AVX2",
                "ONEDNN_MAX_CPU_ISA": "AVX2",
                "TORCHINDUCTOR_CPP_MARCH": "x86-64-v3",
            },
        )
        self.assertEqual((avx2.limit, avx2.masked), ("avx2", ("xnnpack", "onnxruntime", "openvino")))
        self.assertEqual(avx2.left_out.keys(), {"aoti"})
        avx512 = InstructionSet("avx512", "avx512_bf16")
        self.assertEqual(avx512.environment["ONEDNN_MAX_CPU_ISA"], "AVX512_CORE")
        self.assertEqual((avx512.masked, avx512.left_out), (avx2.masked, avx2.left_out))

    def test_pytorch_has_no_baseline(self) -> None:
        baseline = InstructionSet("baseline", "avx2")
        self.assertEqual(baseline.environment, {"EXECUTORCH_INSTRUCTION_SET": "baseline"})
        self.assertEqual(baseline.masked, ())
        peers = {"eager", "compile", "aoti", "llama_cpp", "xnnpack", "onnxruntime", "openvino"}
        self.assertEqual(baseline.left_out.keys(), peers)


if __name__ == "__main__":
    absltest.main()
