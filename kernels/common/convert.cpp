#include "kernels/common/convert.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

#include "kernels/common/reduced_float.h"
#include "kernels/common/vectorize.h"

namespace rules_executorch::kernels {
namespace {

// Which dtypes are worth loops of their own: in a dtype-selective build those of its operators, else all.
#ifdef EXECUTORCH_SELECTIVE_BUILD_DTYPE
constexpr bool is_selected(ScalarType type) { return should_include_dtype(type); }
#else
constexpr bool is_selected(ScalarType) { return true; }
#endif

#define AND_SELECTED(ctype, name) &&is_selected(ScalarType::name)
constexpr bool kAllSelected = true ET_FORALL_REAL_TYPES_AND3(Half, Bool, BFloat16, AND_SELECTED);
#undef AND_SELECTED

/// How elements of dtype T lie in memory, and what they are calculated with. Compilers vectorize loops over bits, not
/// over classes.
template <typename T>
struct Element {
  using Stored = T;
  static T load(Stored stored) { return stored; }
  template <typename From>
  static Stored store(From value) {
    return convert_value<T>(value);
  }
};

template <>
struct Element<Half> {
  using Stored = uint16_t;
  static float load(Stored stored) { return half_to_float(stored); }
  template <typename From>
  static Stored store(From value) {
    return float_to_half(static_cast<float>(value));
  }
};

template <>
struct Element<BFloat16> {
  using Stored = uint16_t;
  static float load(Stored stored) { return bfloat16_to_float(stored); }
  template <typename From>
  static Stored store(From value) {
    return float_to_bfloat16(static_cast<float>(value));
  }
};

#if defined(__x86_64__) && defined(__GNUC__)

// Nearly every x86-64 processor converts Half itself, but the architecture's baseline does not have it.
bool has_half_conversions() { return __builtin_cpu_supports("avx") && __builtin_cpu_supports("f16c"); }

/// Converts 8 elements at a time, and returns how many.
[[maybe_unused, gnu::target("avx,f16c")]] int64_t convert_eights(const uint16_t* from, float* to, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  }
  return i;
}

[[maybe_unused, gnu::target("avx,f16c")]] int64_t convert_eights(const float* from, uint16_t* to, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  }
  return i;
}

#endif

/// Converts elements with what only some processors have, from the first on, and returns how many.
template <typename To, typename From>
int64_t convert_some(const typename Element<From>::Stored* from, typename Element<To>::Stored* to, int64_t n) {
#if defined(__x86_64__) && defined(__GNUC__)
  if constexpr ((std::is_same_v<From, Half> && std::is_same_v<To, float>) ||
                (std::is_same_v<From, float> && std::is_same_v<To, Half>)) {
    return has_half_conversions() ? convert_eights(from, to, n) : 0;
  }
#endif
  (void)from;
  (void)to;
  (void)n;
  return 0;
}

template <typename To, typename From>
void convert_loop(const void* source, void* target, int64_t n) {
  const auto* from = static_cast<const typename Element<From>::Stored*>(source);
  auto* to = static_cast<typename Element<To>::Stored*>(target);
  const int64_t done = convert_some<To, From>(from, to, n);
  from += done;
  to += done;
  n -= done;
  constexpr bool kIsFloat = is_floating_point<From>::value;
  constexpr bool kIsSmallInteger = std::is_integral_v<From> && !std::is_same_v<From, bool> && sizeof(From) <= 4;
  constexpr bool kToBool = kIsFloat && std::is_same_v<To, bool>;
  if constexpr (is_floating_point<To>::value ? kIsFloat || kIsSmallInteger : kToBool) {
    vectorized_for(n, [from, to](int64_t i) { to[i] = Element<To>::store(Element<From>::load(from[i])); });
  } else {
    for (int64_t i = 0; i < n; ++i) {
      to[i] = Element<To>::store(Element<From>::load(from[i]));
    }
  }
}

/// False, with nothing done, for a dtype that is not selected.
template <typename From>
bool convert_from(const void* source, ScalarType to, void* target, int64_t n) {
  switch (to) {
#define CASE(ctype, name)                           \
  case ScalarType::name:                            \
    if constexpr (is_selected(ScalarType::name)) {  \
      convert_loop<ctype, From>(source, target, n); \
      return true;                                  \
    }                                               \
    return false;
    ET_FORALL_REAL_TYPES_AND3(Half, Bool, BFloat16, CASE)
#undef CASE
    default:
      return false;
  }
}

/// An element of any dtype: every integer and Bool is an int64_t, every other a double. Not inlined: that would make a
/// loop of every pair of dtypes again.
struct AnyValue {
  bool is_integral;
  int64_t integer;
  double real;
};

[[gnu::noinline]] AnyValue load_any(ScalarType from, const void* source, int64_t i) {
  switch (from) {
#define CASE(ctype, name)                                                                           \
  case ScalarType::name: {                                                                          \
    const auto value = Element<ctype>::load(static_cast<const Element<ctype>::Stored*>(source)[i]); \
    return {std::is_integral_v<ctype>, std::is_integral_v<ctype> ? static_cast<int64_t>(value) : 0, \
            static_cast<double>(value)};                                                            \
  }
    ET_FORALL_REAL_TYPES_AND3(Half, Bool, BFloat16, CASE)
#undef CASE
    default:
      return {};
  }
}

[[gnu::noinline]] void store_any(const AnyValue& value, ScalarType to, void* target, int64_t i) {
  switch (to) {
#define CASE(ctype, name)                                                                             \
  case ScalarType::name:                                                                              \
    static_cast<Element<ctype>::Stored*>(target)[i] =                                                 \
        value.is_integral ? Element<ctype>::store(value.integer) : Element<ctype>::store(value.real); \
    return;
    ET_FORALL_REAL_TYPES_AND3(Half, Bool, BFloat16, CASE)
#undef CASE
    default:
      return;
  }
}

template <typename T>
void copy_strided(const void* source, int64_t source_stride, void* target, int64_t target_stride, int64_t n) {
  const char* from = static_cast<const char*>(source);
  char* to = static_cast<char*>(target);
  if (source_stride == 0 && target_stride == sizeof(T)) {
    const T element = *reinterpret_cast<const T*>(from);
    T* const elements = reinterpret_cast<T*>(to);
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
      KERNELS_LANES
      for (int64_t j = 0; j < 16; ++j) {
        elements[i + j] = element;
      }
    }
    for (; i < n; ++i) {
      elements[i] = element;
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    *reinterpret_cast<T*>(to + i * target_stride) = *reinterpret_cast<const T*>(from + i * source_stride);
  }
}

}  // namespace

void convert_elements(ScalarType from, const void* source, ScalarType to, void* target, int64_t n) {
  if (from == to) {
    std::memcpy(target, source, n * elementSize(from));
    return;
  }
  bool converted = false;
  switch (from) {
#define CASE(ctype, name)                                     \
  case ScalarType::name:                                      \
    if constexpr (is_selected(ScalarType::name)) {            \
      converted = convert_from<ctype>(source, to, target, n); \
    }                                                         \
    break;
    ET_FORALL_REAL_TYPES_AND3(Half, Bool, BFloat16, CASE)
#undef CASE
    default:
      break;
  }
  if constexpr (!kAllSelected) {
    // Not expected, and not worth loops: one by one.
    for (int64_t i = 0; !converted && i < n; ++i) {
      store_any(load_any(from, source, i), to, target, i);
    }
  }
}

void copy_elements(const void* source, int64_t source_stride, void* target, int64_t target_stride, int64_t element_size,
                   int64_t n) {
  if (source_stride == element_size && target_stride == element_size) {
    std::memmove(target, source, n * element_size);
    return;
  }
  switch (element_size) {
    case 1:
      return copy_strided<uint8_t>(source, source_stride, target, target_stride, n);
    case 2:
      return copy_strided<uint16_t>(source, source_stride, target, target_stride, n);
    case 4:
      return copy_strided<uint32_t>(source, source_stride, target, target_stride, n);
    default:
      return copy_strided<uint64_t>(source, source_stride, target, target_stride, n);
  }
}

void load_block(ScalarType from, const void* source, int64_t stride, ScalarType to, void* target, int64_t n) {
  const int64_t from_size = static_cast<int64_t>(elementSize(from));
  const int64_t to_size = static_cast<int64_t>(elementSize(to));
  if (from == to) {
    copy_elements(source, stride, target, to_size, to_size, n);
  } else if (stride == from_size) {
    convert_elements(from, source, to, target, n);
  } else if (stride == 0) {
    Block element;
    convert_elements(from, source, to, element.data, 1);
    copy_elements(element.data, 0, target, to_size, to_size, n);
  } else {
    Block gathered;
    copy_elements(source, stride, gathered.data, from_size, from_size, n);
    convert_elements(from, gathered.data, to, target, n);
  }
}

void store_block(ScalarType from, const void* source, ScalarType to, void* target, int64_t stride, int64_t n) {
  const int64_t from_size = static_cast<int64_t>(elementSize(from));
  const int64_t to_size = static_cast<int64_t>(elementSize(to));
  if (from == to) {
    copy_elements(source, from_size, target, stride, to_size, n);
  } else if (stride == to_size) {
    convert_elements(from, source, to, target, n);
  } else {
    Block converted;
    convert_elements(from, source, to, converted.data, n);
    copy_elements(converted.data, to_size, target, stride, to_size, n);
  }
}

}  // namespace rules_executorch::kernels
