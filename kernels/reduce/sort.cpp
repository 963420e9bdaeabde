#include "kernels/reduce/sort.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace rules_executorch::kernels {
namespace {

/// The largest number of elements that insertion sorts faster than counting does.
constexpr int64_t kFewElements = 48;
constexpr int kDigitBits = 8;
constexpr int64_t kDigits = 1 << kDigitBits;

/// The key of a float with the bits `bits`: the sign decides first, and negative numbers are in reverse order.
template <typename Bits>
Bits float_key(Bits bits, Bits infinity) {
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const Bits magnitude = static_cast<Bits>(bits & static_cast<Bits>(~kSign));
  if (magnitude > infinity) {
    return static_cast<Bits>(~Bits{0});
  }
  return static_cast<Bits>(bits == magnitude || magnitude == 0 ? magnitude | kSign : ~bits);
}

template <typename Key, typename Bits, typename KeyOf>
void rank_bits(const char* data, int64_t stride, int64_t n, bool descending, Ranked<Key>* ranked, const KeyOf& key_of) {
  const Key flip = descending ? static_cast<Key>(~Key{0}) : Key{0};
  for (int64_t i = 0; i < n; ++i) {
    Bits bits;
    std::memcpy(&bits, data + i * stride, sizeof(bits));
    ranked[i] = {static_cast<Key>(key_of(bits) ^ flip), static_cast<uint32_t>(i)};
  }
}

/// `infinity`: the bits of infinity. NaN gets the largest key of all sizes of keys.
template <typename Key, typename Bits>
void rank_floats(const char* data, int64_t stride, int64_t n, bool descending, Ranked<Key>* ranked, Bits infinity) {
  rank_bits<Key, Bits>(data, stride, n, descending, ranked, [infinity](Bits bits) -> Key {
    const Bits key = float_key(bits, infinity);
    return key == static_cast<Bits>(~Bits{0}) ? kNanKey<Key> : Key{key};
  });
}

template <typename Key, typename Int>
void rank_integers(const char* data, int64_t stride, int64_t n, bool descending, Ranked<Key>* ranked) {
  using Bits = std::make_unsigned_t<Int>;
  constexpr Bits kSign = std::is_signed_v<Int> ? static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1)) : Bits{0};
  rank_bits<Key, Bits>(data, stride, n, descending, ranked,
                       [](Bits bits) -> Key { return static_cast<Bits>(bits ^ kSign); });
}

template <typename Key>
void insertion_sort(Ranked<Key>* ranked, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    const Ranked<Key> item = ranked[i];
    int64_t to = i;
    for (; to > 0 && item.key < ranked[to - 1].key; --to) {
      ranked[to] = ranked[to - 1];
    }
    ranked[to] = item;
  }
}

}  // namespace

template <typename Key>
void rank_elements(ScalarType type, const char* data, int64_t stride, int64_t n, bool descending, Ranked<Key>* ranked) {
  if constexpr (sizeof(Key) == 8) {
    switch (type) {
      case ScalarType::Double:
        return rank_floats<Key, uint64_t>(data, stride, n, descending, ranked, uint64_t{0x7ff} << 52);
      case ScalarType::UInt64:
        return rank_integers<Key, uint64_t>(data, stride, n, descending, ranked);
      default:
        return rank_integers<Key, int64_t>(data, stride, n, descending, ranked);
    }
  } else {
    switch (type) {
      case ScalarType::Float:
        return rank_floats<Key, uint32_t>(data, stride, n, descending, ranked, 0x7f800000);
      case ScalarType::Half:
        return rank_floats<Key, uint16_t>(data, stride, n, descending, ranked, 0x7c00);
      case ScalarType::BFloat16:
        return rank_floats<Key, uint16_t>(data, stride, n, descending, ranked, 0x7f80);
      case ScalarType::Int:
        return rank_integers<Key, int32_t>(data, stride, n, descending, ranked);
      case ScalarType::UInt32:
        return rank_integers<Key, uint32_t>(data, stride, n, descending, ranked);
      case ScalarType::UInt16:
        return rank_integers<Key, uint16_t>(data, stride, n, descending, ranked);
      case ScalarType::Short:
        return rank_integers<Key, int16_t>(data, stride, n, descending, ranked);
      case ScalarType::Char:
        return rank_integers<Key, int8_t>(data, stride, n, descending, ranked);
      default:  // Byte and Bool
        return rank_integers<Key, uint8_t>(data, stride, n, descending, ranked);
    }
  }
}

template <typename Key>
Ranked<Key>* sort_ranked(Ranked<Key>* ranked, Ranked<Key>* other, int64_t n) {
  if (n <= kFewElements) {
    insertion_sort(ranked, n);
    return ranked;
  }
  // One stable pass for each digit in which keys differ, from the lowest digit on.
  Key differs = 0;
  bool is_sorted = true;
  for (int64_t i = 1; i < n; ++i) {
    differs |= ranked[i].key ^ ranked[0].key;
    is_sorted &= ranked[i - 1].key <= ranked[i].key;
  }
  if (is_sorted) {
    return ranked;
  }
  for (int shift = 0; shift < static_cast<int>(8 * sizeof(Key)); shift += kDigitBits) {
    const auto digit = [shift](Key key) { return static_cast<size_t>(key >> shift & (kDigits - 1)); };
    if (digit(differs) == 0) {
      continue;
    }
    uint32_t ends[kDigits] = {};
    for (int64_t i = 0; i < n; ++i) {
      ++ends[digit(ranked[i].key)];
    }
    uint32_t start = 0;
    for (uint32_t& end : ends) {
      const uint32_t count = end;
      end = start;
      start += count;
    }
    for (int64_t i = 0; i < n; ++i) {
      other[ends[digit(ranked[i].key)]++] = ranked[i];
    }
    std::swap(ranked, other);
  }
  return ranked;
}

size_t sort_scratch_size(ScalarType type, int64_t n) {
  const size_t size = has_wide_keys(type) ? sizeof(Ranked<uint64_t>) : sizeof(Ranked<uint32_t>);
  return 2 * static_cast<size_t>(n) * size;
}

namespace {

template <typename Key>
void order_of(ScalarType type, const char* data, int64_t stride, int64_t n, bool descending, Ranked<Key>* ranked,
              uint32_t* order) {
  rank_elements<Key>(type, data, stride, n, descending, ranked);
  const Ranked<Key>* sorted = sort_ranked(ranked, ranked + n, n);
  for (int64_t i = 0; i < n; ++i) {
    order[i] = sorted[i].index;
  }
}

}  // namespace

void sorted_order(ScalarType type, const char* data, int64_t stride, int64_t n, bool descending, void* scratch,
                  uint32_t* order) {
  if (has_wide_keys(type)) {
    order_of(type, data, stride, n, descending, static_cast<Ranked<uint64_t>*>(scratch), order);
  } else {
    order_of(type, data, stride, n, descending, static_cast<Ranked<uint32_t>*>(scratch), order);
  }
}

template void rank_elements<uint32_t>(ScalarType, const char*, int64_t, int64_t, bool, Ranked<uint32_t>*);
template void rank_elements<uint64_t>(ScalarType, const char*, int64_t, int64_t, bool, Ranked<uint64_t>*);
template Ranked<uint32_t>* sort_ranked<uint32_t>(Ranked<uint32_t>*, Ranked<uint32_t>*, int64_t);
template Ranked<uint64_t>* sort_ranked<uint64_t>(Ranked<uint64_t>*, Ranked<uint64_t>*, int64_t);

}  // namespace rules_executorch::kernels
