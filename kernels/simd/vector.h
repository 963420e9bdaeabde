#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/simd/inline.h"
#include "kernels/simd/lanes.h"
#include "kernels/simd/width.h"

/// Vectors of any element and size, which compilers make of the instructions that they have.
namespace rules_executorch::kernels::simd {

#if defined(__GNUC__)

template <typename T, int64_t kBytes>
struct VectorOf {
  typedef T type __attribute__((vector_size(kBytes)));
};

/// `kBytes` bytes of elements. Operators work on all lanes; a number is one in each.
template <typename T, int64_t kBytes = kVectorBytes>
using Vector = typename VectorOf<T, kBytes>::type;

#else

// Loops over lanes.
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

/// Loads a vector of any type; nothing has to be aligned.
template <typename V>
KERNELS_ALWAYS_INLINE inline V load_as(const void* from) {
  V vector;
  std::memcpy(&vector, from, sizeof(vector));
  return vector;
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
  return x - V{};  // not a sum, which would make 0 of -0
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

/// Asks for a line of memory, which is read soon; with a locality of 2, the second cache is near enough.
template <int kLocality = 3>
KERNELS_ALWAYS_INLINE inline void prefetch([[maybe_unused]] const void* from) {
#if defined(__GNUC__)
  __builtin_prefetch(from, /*rw=*/0, kLocality);
#endif
}

// GCC has it from version 12 on.
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define KERNELS_HAVE_SHUFFLES
#endif
#endif

#ifdef KERNELS_HAVE_SHUFFLES

/// Lanes of `a` and of `b`, which are counted on: those that `I` names.
template <int... I, typename V>
KERNELS_ALWAYS_INLINE inline V shuffle(const V& a, const V& b) {
  return __builtin_shufflevector(a, b, I...);
}

/// The lanes of both vectors in turns, from lane kFirst on.
template <int kFirst, typename V, int... I>
KERNELS_ALWAYS_INLINE inline V interleave(const V& a, const V& b, std::integer_sequence<int, I...>) {
  return shuffle<(I % 2 * int{sizeof...(I)} + kFirst + I / 2)...>(a, b);
}

/// Transposes as many rows as a vector has lanes. Each step interleaves row i with row i + n / 2.
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
