#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/common/convert.h"
#include "kernels/common/parallel_for.h"
#include "kernels/common/strided_view.h"

namespace rules_executorch::kernels {

/// The last two dimensions of a view, whose elements are read and written as values of type T.
template <typename T, typename View>
class Plane {
 public:
  explicit Plane(const View& view)
      : type_(view.dtype),
        data_(view.data),
        row_(view.strides[view.rank - 2] * view.element_size()),
        column_(view.strides[view.rank - 1] * view.element_size()) {}

  T load(int64_t y, int64_t x) const {
    const char* const element = data_ + y * row_ + x * column_;
    T value;
    if (type_ == kType) {
      std::memcpy(&value, element, sizeof(T));
    } else {
      load_block(type_, element, 0, kType, &value, 1);
    }
    return value;
  }

  void store(int64_t y, int64_t x, T value) const {
    char* const element = data_ + y * row_ + x * column_;
    if (type_ == kType) {
      std::memcpy(element, &value, sizeof(T));
    } else {
      store_block(kType, &value, type_, element, sizeof(T), 1);
    }
  }

 private:
  static constexpr ScalarType kType = CppTypeToScalarType<T>::value;

  ScalarType type_;
  decltype(View::data) data_;
  int64_t row_;
  int64_t column_;
};

/// Calls `function(in, out)` for each plane of `in` and the one of `out`, tensors of three or four dimensions; several
/// threads have planes of their own. `work` is about how many additions an element of `out` costs.
template <typename T, typename Function>
void for_each_plane(const Tensor& in, Tensor& out, int64_t work, const Function& function) {
  ConstStridedView source(in);
  StridedView target(out);
  if (source.rank == 3) {
    source = source.unsqueeze(0);
    target = target.unsqueeze(0);
  }
  const int64_t channels = source.sizes[1];
  const int64_t cost = std::max<int64_t>(1, target.sizes[2] * target.sizes[3] * work);
  parallel_for(0, source.sizes[0] * channels, std::max<int64_t>(1, kGrain / cost), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      function(Plane<T, ConstStridedView>(source.select(0, i / channels).select(0, i % channels)),
               Plane<T, StridedView>(target.select(0, i / channels).select(0, i % channels)));
    }
  });
}

}  // namespace rules_executorch::kernels
