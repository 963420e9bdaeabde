#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/simd/inline.h"
#include "kernels/simd/lanes.h"
#include "kernels/simd/width.h"

/// Vectors of any element type and size. Compilers translate their operations to the instructions of the set.
namespace rules_executorch::kernels::simd {

#if defined(__GNUC__)

template <typename T, int64_t kBytes>
struct VectorOf {
  typedef T type __attribute__((vector_size(kBytes)));
};

/// A vector of `kBytes` bytes. Operators work on all lanes. A scalar operand is broadcast to all lanes.
template <typename T, int64_t kBytes = kVectorBytes>
using Vector = typename VectorOf<T, kBytes>::type;

#else

// For other compilers: loops over lanes.
template <typename T, int64_t kBytes = kVectorBytes>
struct Vector {
  T lanes[kBytes / sizeof(T)];

  friend Vector operator*(T factor, Vector vector) {
    for (T& lane : vector.lanes) {
      lane *= factor;
    }
    return vector;
  }
  friend Vector operator*(Vector a, const Vector& b) {
    for (size_t i = 0; i < kBytes / sizeof(T); ++i) {
      a.lanes[i] *= b.lanes[i];
    }
    return a;
  }
  friend Vector operator+(Vector a, const Vector& b) { return a += b; }
  friend Vector operator-(Vector a, const Vector& b) {
    for (size_t i = 0; i < kBytes / sizeof(T); ++i) {
      a.lanes[i] -= b.lanes[i];
    }
    return a;
  }
  friend Vector operator-(Vector a) {
    for (T& lane : a.lanes) {
      lane = -lane;
    }
    return a;
  }
  Vector& operator+=(const Vector& other) {
    for (size_t i = 0; i < kBytes / sizeof(T); ++i) {
      lanes[i] += other.lanes[i];
    }
    return *this;
  }
};

#endif

template <typename T>
inline constexpr int64_t kLanes = kVectorBytes / sizeof(T);

/// Loads a vector of any type. The address may be unaligned.
template <typename V>
KERNELS_ALWAYS_INLINE inline V load_as(const void* from) {
  V vector;
  std::memcpy(&vector, from, sizeof(vector));
  return vector;
}

/// The compiler moves no load or store across this call. The processor may.
KERNELS_ALWAYS_INLINE inline void compiler_barrier() {
#if defined(__GNUC__)
  asm volatile("" ::: "memory");
#endif
}

template <typename T>
KERNELS_ALWAYS_INLINE inline Vector<T> load(const T* from) {
  return load_as<Vector<T>>(from);
}

template <typename V>
KERNELS_ALWAYS_INLINE inline void store(void* to, const V& vector) {
  std::memcpy(to, &vector, sizeof(vector));
}

/// A vector with `x` in each lane.
template <typename V, typename T>
KERNELS_ALWAYS_INLINE inline V broadcast(T x) {
#if defined(__GNUC__)
  return x - V{};  // an addition would turn -0 into 0
#else
  V vector;
  for (T& lane : vector.lanes) {
    lane = x;
  }
  return vector;
#endif
}

/// The sum of all lanes.
template <typename T>
KERNELS_ALWAYS_INLINE inline T sum(const Vector<T>& vector) {
  T lanes[kLanes<T>];
  std::memcpy(lanes, &vector, sizeof(lanes));
  merge_lanes<kLanes<T> / 2>(lanes, [](T& into, T other) { into += other; });
  return lanes[0];
}

/// Prefetches a cache line that is read soon. A locality of 3 prefetches to the L1 cache, a locality of 2 to the L2
/// cache.
template <int kLocality = 3>
KERNELS_ALWAYS_INLINE inline void prefetch([[maybe_unused]] const void* from) {
#if defined(__GNUC__)
  __builtin_prefetch(from, /*rw=*/0, kLocality);
#endif
}

// GCC has __builtin_shufflevector since version 12.
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define KERNELS_HAVE_SHUFFLES
#endif
#endif

#ifdef KERNELS_HAVE_SHUFFLES

/// Selects lanes by the indices `I`. The indices of the lanes of `b` follow those of the lanes of `a`.
template <int... I, typename V>
KERNELS_ALWAYS_INLINE inline V shuffle(const V& a, const V& b) {
  return __builtin_shufflevector(a, b, I...);
}

/// Alternates the lanes of `a` and `b`, starting at lane kFirst.
template <int kFirst, typename V, int... I>
KERNELS_ALWAYS_INLINE inline V interleave(const V& a, const V& b, std::integer_sequence<int, I...>) {
  return shuffle<(I % 2 * int{sizeof...(I)} + kFirst + I / 2)...>(a, b);
}

/// Transposes a square matrix. The number of rows is the number of lanes of a vector. Each step interleaves row i with
/// row i + n / 2.
template <int kSteps, typename V, int... I>
KERNELS_ALWAYS_INLINE inline void transpose(V (&rows)[sizeof...(I)], std::integer_sequence<int, I...> all) {
  constexpr int kHalf = sizeof...(I) / 2;
  V next[] = {interleave<I % 2 * kHalf>(rows[I / 2], rows[I / 2 + kHalf], all)...};
  if constexpr (kSteps > 2) {
    transpose<kSteps / 2>(next, all);
  }
  ((rows[I] = next[I]), ...);
}

template <typename V, int kRows>
KERNELS_ALWAYS_INLINE inline void transpose(V (&rows)[kRows]) {
  transpose<kRows>(rows, std::make_integer_sequence<int, kRows>());
}

#endif

}  // namespace rules_executorch::kernels::simd
