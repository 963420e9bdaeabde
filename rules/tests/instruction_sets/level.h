#pragma once

// What the compiler was told of the processor. On arm64: 2 for products of matrices, 1 for dot products, 0 for the
// baseline. On x86-64: 3 for AVX-512 with BF16 and VNNI, 2 for AVX-512, 1 for AVX2, 0 for the baseline.
#if defined(__ARM_FEATURE_MATMUL_INT8) && defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
#define COMPILED_LEVEL 2
#elif defined(__ARM_FEATURE_DOTPROD)
#define COMPILED_LEVEL 1
#elif defined(__AVX512BF16__) && defined(__AVX512VNNI__)
#define COMPILED_LEVEL 3
#elif defined(__AVX512F__)
#define COMPILED_LEVEL 2
#elif defined(__AVX2__)
#define COMPILED_LEVEL 1
#else
#define COMPILED_LEVEL 0
#endif

// Of inline functions with one name, a linker keeps any.
[[gnu::noinline]] inline int inline_level() { return COMPILED_LEVEL; }

inline int& counter() {
  static int count = 0;
  return count;
}

int shared_level();
