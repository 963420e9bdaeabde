#include "kernels/tensors/convert.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/math/reduced_float.h"
#include "kernels/math/vectorize.h"
#include "kernels/simd/half_conversions.h"

namespace rules_executorch::kernels {
namespace {

// The dtypes for which loops are compiled: in a dtype-selective build the dtypes of its operators, otherwise all.
#ifdef EXECUTORCH_SELECTIVE_BUILD_DTYPE
constexpr bool is_selected(ScalarType type) { return should_include_dtype(type); }
#else
constexpr bool is_selected(ScalarType) { return true; }
#endif

#define AND_SELECTED(ctype, name) &&is_selected(ScalarType::name)
constexpr bool kAllSelected = true ET_FORALL_REAL_TYPES_AND3(Half, Bool, BFloat16, AND_SELECTED);
#undef AND_SELECTED

#define OR_SELECTED(ctype, name) || is_selected(ScalarType::name)
constexpr bool kComplexSelected = false ET_FORALL_COMPLEXH_TYPES(OR_SELECTED);
constexpr bool kUnsignedSelected = false KERNELS_FORALL_UNSIGNED_TYPES(OR_SELECTED);
#undef OR_SELECTED

/// The type in memory and the type for computations of elements of dtype T. Compilers vectorize loops over bits, but
/// not loops over classes such as Half.
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

/// Converts elements with instructions that only some processors have. Returns the number of converted elements.
template <typename To, typename From>
int64_t convert_some(const typename Element<From>::Stored* from, typename Element<To>::Stored* to, int64_t n) {
  if constexpr ((std::is_same_v<From, Half> && std::is_same_v<To, float>) ||
                (std::is_same_v<From, float> && std::is_same_v<To, Half>)) {
    return simd::has_half_conversions() ? simd::convert_eights(from, to, n) : 0;
  }
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

/// Returns false and converts nothing if dtype `to` is not selected.
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

/// An element of any dtype except complex ones: integers and Bool as int64_t, floating-point numbers as double.
struct AnyValue {
  bool is_integral;
  int64_t integer;
  double real;
};

template <typename T>
AnyValue load_any(const void* source, int64_t i) {
  const auto value = Element<T>::load(static_cast<const typename Element<T>::Stored*>(source)[i]);
  return {std::is_integral_v<T>, std::is_integral_v<T> ? static_cast<int64_t>(value) : 0, static_cast<double>(value)};
}

template <typename T>
void store_any(const AnyValue& value, void* target, int64_t i) {
  // A UInt64 above the largest int64_t is negative as an integer, and positive as a floating-point number.
  const bool is_exact =
      value.is_integral && (!kUnsignedSelected || std::is_integral_v<T> || (value.integer < 0) == (value.real < 0));
  static_cast<typename Element<T>::Stored*>(target)[i] =
      is_exact ? Element<T>::store(value.integer) : Element<T>::store(value.real);
}

// Not inlined, because inlining would again compile a loop for each pair of dtypes.

[[gnu::noinline]] AnyValue load_any(ScalarType from, const void* source, int64_t i) {
  switch (from) {
#define CASE(ctype, name) \
  case ScalarType::name:  \
    return load_any<ctype>(source, i);
    ET_FORALL_REAL_TYPES_AND3(Half, Bool, BFloat16, CASE)
    default:
      break;
  }
  if constexpr (kUnsignedSelected) {
    switch (from) {
      KERNELS_FORALL_UNSIGNED_TYPES(CASE)
      default:
        break;
    }
  }
#undef CASE
  return {};
}

[[gnu::noinline]] void store_any(const AnyValue& value, ScalarType to, void* target, int64_t i) {
  switch (to) {
#define CASE(ctype, name) \
  case ScalarType::name:  \
    return store_any<ctype>(value, target, i);
    ET_FORALL_REAL_TYPES_AND3(Half, Bool, BFloat16, CASE)
    default:
      break;
  }
  if constexpr (kUnsignedSelected) {
    switch (to) {
      KERNELS_FORALL_UNSIGNED_TYPES(CASE)
      default:
        break;
    }
  }
#undef CASE
}

/// Sets `parts[2 * i] = parts[n + i]` and `parts[2 * i + 1] = 0`. The real parts are in the second half of the memory
/// of `n` complex numbers.
template <typename Bits>
void add_imaginary_parts(void* target, int64_t n) {
  Bits* const parts = static_cast<Bits*>(target);
  for (int64_t i = 0; i < n; ++i) {
    parts[2 * i] = parts[n + i];
    parts[2 * i + 1] = 0;
  }
}

/// Converts complex numbers to real dtypes: takes the real part; for Bool, true if one of both parts is not 0.
void convert_from_complex(ScalarType from, const void* source, ScalarType to, void* target, int64_t n) {
  const ScalarType part = toRealValueType(from);
  const int64_t part_size = static_cast<int64_t>(elementSize(part));
  load_block(part, source, 2 * part_size, to, target, n);
  for (int64_t i = 0; i < n && to == ScalarType::Bool; ++i) {
    bool has_imaginary_part;
    convert_elements(part, static_cast<const char*>(source) + (2 * i + 1) * part_size, to, &has_imaginary_part, 1);
    static_cast<bool*>(target)[i] |= has_imaginary_part;
  }
}

/// Converts to complex numbers: complex numbers part by part, other numbers to real parts with imaginary parts of 0.
void convert_to_complex(ScalarType from, const void* source, ScalarType to, void* target, int64_t n) {
  const ScalarType part = toRealValueType(to);
  if (isComplexType(from)) {
    convert_elements(toRealValueType(from), source, part, target, 2 * n);
    return;
  }
  const int64_t part_size = static_cast<int64_t>(elementSize(part));
  convert_elements(from, source, part, static_cast<char*>(target) + n * part_size, n);
  switch (part_size) {
    case 2:
      return add_imaginary_parts<uint16_t>(target, n);
    case 4:
      return add_imaginary_parts<uint32_t>(target, n);
    default:
      return add_imaginary_parts<uint64_t>(target, n);
  }
}

template <typename T>
void copy_strided(const void* source, int64_t source_stride, void* target, int64_t target_stride, int64_t n) {
  const char* from = static_cast<const char*>(source);
  char* to = static_cast<char*>(target);
  if (source_stride == 0 && target_stride == sizeof(T)) {
    T some[16];
    std::memcpy(some, from, sizeof(T));
    std::fill_n(some + 1, 15, some[0]);
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
      std::memcpy(to + i * int64_t{sizeof(T)}, some, sizeof(some));
    }
    std::memcpy(to + i * int64_t{sizeof(T)}, some, static_cast<size_t>(n - i) * sizeof(T));
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(to + i * target_stride, from + i * source_stride, sizeof(T));
  }
}

}  // namespace

void convert_elements(ScalarType from, const void* source, ScalarType to, void* target, int64_t n) {
  if (from == to) {
    std::memcpy(target, source, n * elementSize(from));
    return;
  }
  if (kComplexSelected && isComplexType(to)) {
    convert_to_complex(from, source, to, target, n);
    return;
  }
  if (kComplexSelected && isComplexType(from)) {
    convert_from_complex(from, source, to, target, n);
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
  if constexpr (!kAllSelected || kUnsignedSelected) {
    // Rare dtypes, for which no loop is compiled, are converted one by one.
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
      // Elements of 16 bytes are copied as two halves.
      for (int64_t half = 0; half < element_size; half += sizeof(uint64_t)) {
        copy_strided<uint64_t>(static_cast<const char*>(source) + half, source_stride,
                               static_cast<char*>(target) + half, target_stride, n);
      }
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
    const int64_t step = block_length(from_size);
    for (int64_t start = 0; start < n; start += step) {
      const int64_t count = std::min(step, n - start);
      copy_elements(static_cast<const char*>(source) + start * stride, stride, gathered.data, from_size, from_size,
                    count);
      convert_elements(from, gathered.data, to, static_cast<char*>(target) + start * to_size, count);
    }
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
    const int64_t step = block_length(to_size);
    for (int64_t start = 0; start < n; start += step) {
      const int64_t count = std::min(step, n - start);
      convert_elements(from, static_cast<const char*>(source) + start * from_size, to, converted.data, count);
      copy_elements(converted.data, to_size, static_cast<char*>(target) + start * stride, stride, to_size, count);
    }
  }
}

}  // namespace rules_executorch::kernels
