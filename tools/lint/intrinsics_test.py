from __future__ import annotations

from pathlib import Path

from absl.testing import absltest

from tools.lint import intrinsics


class IntrinsicsTest(absltest.TestCase):
    def test_intrinsics(self) -> None:
        for text, words in (
            ("#include <immintrin.h>", ["<immintrin.h>"]),
            ("#include <emmintrin.h>  // and <arm_neon.h>", ["<emmintrin.h>", "<arm_neon.h>"]),
            ("const __m512 x = _mm512_set1_ps(1);", ["__m512", "_mm512_set1_ps"]),
            ("__m128i a; __mmask16 b;", ["__m128i", "__mmask16"]),
            ("float32x4_t x = vld1q_f32(p);", ["float32x4_t", "vld1q_f32"]),
            ("v128_t x = wasm_f32x4_add(wasm_v128_load(p), y);", ["v128_t", "wasm_f32x4_add", "wasm_v128_load"]),
            ('[[gnu::target("avx2")]] void f();', ["gnu::target"]),
            ("typedef float V __attribute__((vector_size(16)));", ["vector_size"]),
            (
                "__builtin_ia32_minps(__builtin_shufflevector(a, b))",
                ["__builtin_ia32_minps", "__builtin_shufflevector"],
            ),
        ):
            self.assertEqual(intrinsics.intrinsics(text), words, text)

    def test_others(self) -> None:
        for text in (
            "simd::load(from + i)",
            "comm_mm_size, vector_sizes",
            "__builtin_cpu_supports",
            "int32_t, my_mm512",
        ):
            self.assertEqual(intrinsics.intrinsics(text), [], text)

    def test_places(self) -> None:
        tree = Path(self.create_tempdir().full_path)
        files = ["kernels/math/a.h", "kernels/simd/b.h", "runtime/c.h"]
        for file in files:
            (tree / file).parent.mkdir(parents=True)
            (tree / file).write_text("\n__m256 x;\n")
        self.assertEqual(
            list(intrinsics.check(tree, files)),
            ["kernels/math/a.h:2: __m256, which is for kernels/simd/ only"],
        )


if __name__ == "__main__":
    absltest.main()
