#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/math/exponentials.h"
#include "kernels/math/vector_math.h"
#include "kernels/math/vectorize.h"
#include "kernels/simd/simd.h"

namespace rules_executorch::kernels::math {

/// `x` times the probability that a normal variable is less than `x`. The error of `gelu` and of `gelu_tanh` is at most
/// kGeluError times |x|.
constexpr double kGeluError = 0x1p-23;
KERNELS_ALWAYS_INLINE inline float gelu(float x) {
  using namespace internal;
  const float magnitude = abs(x);
  // For |x| >= 7, the probability of the tail is less than the error bound.
  const bool is_bounded = magnitude < 7;
  const float bounded = is_bounded ? magnitude : 7;
  // The logarithm to base 2 of erfc(magnitude / sqrt(2)).
  float q = -0x1.65c5a8p-19f;
  q = q * bounded + 0x1.39d874p-15f;
  q = q * bounded - 0x1.737db8p-13f;
  q = q * bounded - 0x1.4b776ap-13f;
  q = q * bounded + 0x1.d0a6acp-8f;
  q = q * bounded - 0x1.ae315cp-5f;
  q = q * bounded - 0x1.d6394p-2f;
  q = q * bounded - 0x1.26aedep+0f;
  q = q * bounded;
  const float shifted = q + kRound;
  const float r = q - (shifted - kRound);
  float p = 0x1.416b52p-13f;
  p = p * r + 0x1.5f082ep-10f;
  p = p * r + 0x1.3b2dep-7f;
  p = p * r + 0x1.c6af7cp-5f;
  p = p * r + 0x1.ebfbdcp-3f;
  p = p * r + 0x1.62e43p-1f;
  p = p * r + 1;
  const float tails = p * power_of_two(to_bits(shifted) - to_bits(kRound));
  const float both = is_bounded ? tails : 0;
  return x * 0.5f * (x < 0 ? both : 2 - both);
}
inline double gelu(double x) { return x * 0.5 * (1 + std::erf(x * 0.707106781186547524401)); }

/// The approximation of `gelu` that PyTorch calls "tanh": x (1 + tanh(u)) / 2 = x / (1 + e^-2u).
KERNELS_ALWAYS_INLINE inline float gelu_tanh(float x) {
  constexpr float kLinear = -0x1.988454p+0f;  // -2 sqrt(2/pi)
  constexpr float kCubic = kLinear * 0.044715f;
  return x / (1 + exp(x * (kLinear + kCubic * x * x)));
}
inline double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(0.797884560802865355880 * (x + 0.044715 * x * x * x)));
}

#if defined(KERNELS_HAVE_FLOAT_TABLES)

namespace internal {

/// The factor of a negative x in `gelu` and in `gelu_tanh`, as one polynomial for each interval of |x|. The center of
/// interval i is i * kGeluInterval, and the argument of the polynomial is |x| minus the center. Each column of the
/// table has the coefficients of one interval, the highest degree first: the minimax polynomial of the relative error.
/// The last column is for all larger |x|. A vector register holds a row, so that one instruction looks up the
/// coefficients of 16 elements.
inline constexpr float kGeluInterval = 0.390625f;
inline constexpr float kGeluTails[6][16] = {
    {-0x1.39f5a4p-7f, -0x1.a290fep-8f, 0x1.643892p-11f, 0x1.6a02ep-8f, 0x1.68da98p-8f, 0x1.51d66cp-9f, -0x1.cd7376p-15f,
     -0x1.219c7ep-10f, -0x1.02d3f2p-10f, -0x1.20df26p-11f, -0x1.dcd8aap-13f, -0x1.34eadep-14f, -0x1.42c5dep-16f,
     -0x1.14704cp-18f, -0x1.8807cap-21f, 0},
    {-0x1.221558p-13f, -0x1.16cf7ap-6f, -0x1.73b47ep-6f, -0x1.04238p-6f, -0x1.1b7288p-8f, 0x1.f8d668p-9f,
     0x1.956d7ep-8f, 0x1.3cc5dep-8f, 0x1.5e283cp-9f, 0x1.2b7a9cp-10f, 0x1.9b539p-12f, 0x1.ce97fcp-14f, 0x1.aefde4p-16f,
     0x1.4f39a2p-18f, 0x1.b5aafep-21f, 0},
    {0x1.106bbcp-4f, 0x1.aba4f8p-5f, 0x1.38d8d4p-6f, -0x1.993ccp-7f, -0x1.cf36f8p-6f, -0x1.c736fp-6f, -0x1.39f8eap-6f,
     -0x1.4fbca2p-7f, -0x1.2166dep-8f, -0x1.9a29f2p-10f, -0x1.e36f6ep-12f, -0x1.dd567p-14f, -0x1.8cd64cp-16f,
     -0x1.16c724p-18f, -0x1.4bddc8p-21f, 0},
    {-0x1.1685c6p-20f, 0x1.27b55p-4f, 0x1.d66a9ep-4f, 0x1.e1d93ap-4f, 0x1.78a1e6p-4f, 0x1.d9ddf4p-5f, 0x1.eb5aa6p-6f,
     0x1.a93ac4p-7f, 0x1.3578acp-8f, 0x1.7ca68ep-10f, 0x1.8cf77cp-12f, 0x1.5fd3aap-14f, 0x1.097772p-16f,
     0x1.558204p-19f, 0x1.76e706p-22f, 0},
    {-0x1.988452p-2f, -0x1.7a824p-2f, -0x1.2d130ep-2f, -0x1.9b2e7ep-3f, -0x1.e21648p-4f, -0x1.e53b54p-5f,
     -0x1.a347cap-6f, -0x1.3705d2p-7f, -0x1.8c21fap-9f, -0x1.b121bep-11f, -0x1.96906ep-13f, -0x1.479e0ap-15f,
     -0x1.c54652p-18f, -0x1.0d2f62p-20f, -0x1.1277fcp-23f, 0},
    {0x1p-1f, 0x1.6463dep-2f, 0x1.bd1654p-3f, 0x1.ee130ap-4f, 0x1.e4067cp-5f, 0x1.a0315ap-6f, 0x1.38c94ap-7f,
     0x1.99979ep-9f, 0x1.d21afcp-11f, 0x1.cc082ep-13f, 0x1.892c52p-15f, 0x1.229f0ap-17f, 0x1.733326p-20f,
     0x1.994b1p-23f, 0x1.8552bp-26f, 0},
};
inline constexpr float kGeluTanhTails[6][16] = {
    {-0x1.411aap-7f, -0x1.b2e36cp-8f, 0x1.056d9p-10f, 0x1.766f14p-8f, 0x1.60bcc6p-8f, 0x1.3b4d1ep-9f, 0x1.293b9p-17f,
     -0x1.038e9cp-10f, -0x1.fc93cap-11f, -0x1.3204f2p-11f, -0x1.01bd4ap-12f, -0x1.34b914p-14f, -0x1.04b9ep-16f,
     -0x1.31d262p-19f, -0x1.e953eap-23f, 0},
    {-0x1.273fccp-13f, -0x1.1a3a4ep-6f, -0x1.76225p-6f, -0x1.fdaa12p-7f, -0x1.0a48c8p-8f, 0x1.e44948p-9f,
     0x1.845ec4p-8f, 0x1.39e53ap-8f, 0x1.6a9862p-9f, 0x1.3cce38p-10f, 0x1.a28f9ap-12f, 0x1.9b49ap-14f, 0x1.266422p-16f,
     0x1.2c620ap-19f, 0x1.ab53f8p-23f, 0},
    {0x1.11c50ap-4f, 0x1.abead4p-5f, 0x1.31ebc8p-6f, -0x1.a10bfcp-7f, -0x1.c9c488p-6f, -0x1.c04b3ep-6f, -0x1.3989a6p-6f,
     -0x1.5725dp-7f, -0x1.2badf6p-8f, -0x1.9e354ep-10f, -0x1.bc126p-12f, -0x1.6896bcp-14f, -0x1.b0dc6cp-17f,
     -0x1.76fdc4p-20f, -0x1.c9f74cp-24f, 0},
    {-0x1.1810e6p-20f, 0x1.28c172p-4f, 0x1.d66a3cp-4f, 0x1.dff73cp-4f, 0x1.7706c2p-4f, 0x1.dadb3ap-5f, 0x1.f1e63cp-6f,
     0x1.b1552cp-7f, 0x1.358e28p-8f, 0x1.63dfcap-10f, 0x1.4154a8p-12f, 0x1.bc34e2p-15f, 0x1.ca1e02p-18f,
     0x1.579c82p-21f, 0x1.6d8edcp-25f, 0},
    {-0x1.988452p-2f, -0x1.7a615ep-2f, -0x1.2cce64p-2f, -0x1.9b0b0cp-3f, -0x1.e35bdap-4f, -0x1.e8b3p-5f,
     -0x1.a65fb8p-6f, -0x1.344ac8p-7f, -0x1.753c04p-9f, -0x1.6e69bap-11f, -0x1.1c8e6cp-13f, -0x1.54c652p-16f,
     -0x1.32a68cp-19f, -0x1.942d3ap-23f, -0x1.7c464cp-27f, 0},
    {0x1p-1f, 0x1.64687ep-2f, 0x1.bd4accp-3f, 0x1.eecc1ap-4f, 0x1.e5116ap-5f, 0x1.9fb5d8p-6f, 0x1.33ab4ep-7f,
     0x1.82f478p-9f, 0x1.95510ep-11f, 0x1.599bd4p-13f, 0x1.d43a92p-16f, 0x1.eb6d54p-19f, 0x1.8588ccp-22f,
     0x1.c6a556p-26f, 0x1.7cd302p-30f, 0},
};

KERNELS_ALWAYS_INLINE inline Floats vector_gelu(const float (&table)[6][16], Floats x) {
  const auto all = [](float value) KERNELS_ALWAYS_INLINE { return simd::broadcast<Floats>(value); };
  const Floats bounded = simd::min(simd::abs(x), all(15 * kGeluInterval));
  const Floats shifted = simd::fma(bounded, all(1 / kGeluInterval), all(kRound));
  const Floats n = shifted - kRound;
  const Floats r = simd::fma(n, all(-kGeluInterval), bounded);
  Floats p = simd::look_up(table[0], shifted);
#pragma GCC unroll 5
  for (int i = 1; i < 6; ++i) {
    p = simd::fma(p, r, simd::look_up(table[i], shifted));
  }
  return x * simd::one_less_unless_negative(p, x);
}

}  // namespace internal

/// out[i] = gelu(in[i]) for 0 <= i < n. `out` may be `in`.
inline void gelu(int64_t n, float* out, const float* in) {
  internal::for_each_vector(n, out, in, [](internal::Floats x) KERNELS_ALWAYS_INLINE {
    return internal::vector_gelu(internal::kGeluTails, x);
  });
}

/// out[i] = gelu_tanh(in[i]) for 0 <= i < n. `out` may be `in`.
inline void gelu_tanh(int64_t n, float* out, const float* in) {
  internal::for_each_vector(n, out, in, [](internal::Floats x) KERNELS_ALWAYS_INLINE {
    return internal::vector_gelu(internal::kGeluTanhTails, x);
  });
}

#endif

template <typename T>
void gelu(int64_t n, T* out, const T* in) {
  wide_vectorized_for(n, [=](int64_t i) KERNELS_ALWAYS_INLINE { out[i] = gelu(in[i]); });
}

template <typename T>
void gelu_tanh(int64_t n, T* out, const T* in) {
  wide_vectorized_for(n, [=](int64_t i) KERNELS_ALWAYS_INLINE { out[i] = gelu_tanh(in[i]); });
}

}  // namespace rules_executorch::kernels::math
