#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// Reads and writes one element of dtype `type` as a value of type T.
template <typename T>
T load_element(ScalarType type, const char* element) {
  T value;
  if (type == CppTypeToScalarType<T>::value) {
    std::memcpy(&value, element, sizeof(T));
  } else {
    load_block(type, element, 0, CppTypeToScalarType<T>::value, &value, 1);
  }
  return value;
}

template <typename T>
void store_element(T value, ScalarType type, char* element) {
  if (type == CppTypeToScalarType<T>::value) {
    std::memcpy(element, &value, sizeof(T));
  } else {
    store_block(CppTypeToScalarType<T>::value, &value, type, element, sizeof(T), 1);
  }
}

/// The last two dimensions of a view. Elements are read and written as values of type T.
template <typename T, typename View>
class Plane {
 public:
  explicit Plane(const View& view)
      : type_(view.dtype),
        data_(view.data),
        row_(view.strides[view.rank - 2] * view.element_size()),
        column_(view.strides[view.rank - 1] * view.element_size()) {}

  /// An element. The dtype of the view must be T.
  auto& at(int64_t y, int64_t x) const {
    using Element = std::conditional_t<View::kIsConst, const T, T>;
    return *reinterpret_cast<Element*>(data_ + y * row_ + x * column_);
  }

  /// Whether the next row follows directly after a row of `width` elements: `at(0, i)` is then the plane's i-th
  /// element.
  bool has_adjacent_rows(int64_t width) const { return row_ == width * column_; }

  T load(int64_t y, int64_t x) const { return load_element<T>(type_, data_ + y * row_ + x * column_); }
  /// Reads `n` elements of a row, from (y, x) on. `n` is at most kBlockSize.
  void load_row(int64_t y, int64_t x, int64_t n, T* values) const {
    load_block(type_, data_ + y * row_ + x * column_, column_, CppTypeToScalarType<T>::value, values, n);
  }
  /// Writes `n` elements of a row, from (y, x) on. `n` is at most kBlockSize.
  void store_row(int64_t y, int64_t x, int64_t n, const T* values) const {
    store_block(CppTypeToScalarType<T>::value, values, type_, data_ + y * row_ + x * column_, column_, n);
  }
  void store(int64_t y, int64_t x, T value) const { store_element(value, type_, data_ + y * row_ + x * column_); }

 private:
  ScalarType type_;
  decltype(View::data) data_;
  int64_t row_;
  int64_t column_;
};

/// The planes of a 3-dim or 4-dim tensor: one for each channel of each batch element.
template <typename T, typename View>
class Planes {
 public:
  explicit Planes(const View& view) : view_(view.rank == 3 ? view.unsqueeze(0) : view) {}

  int64_t count() const { return view_.sizes[0] * view_.sizes[1]; }
  int64_t plane_numel() const { return view_.sizes[2] * view_.sizes[3]; }
  Plane<T, View> operator[](int64_t i) const {
    return Plane<T, View>(view_.select(0, i / view_.sizes[1]).select(0, i % view_.sizes[1]));
  }

 private:
  View view_;
};

template <typename T>
using InputPlanes = Planes<T, ConstStridedView>;
template <typename T>
using OutputPlanes = Planes<T, StridedView>;

/// Calls `function(i)` for each plane number `i`. Threads process disjoint planes. `work` is the approximate cost of an
/// element, in additions.
template <typename T, typename View, typename Function>
void for_each_plane(const Planes<T, View>& planes, int64_t work, const Function& function) {
  const int64_t cost = std::max<int64_t>(1, planes.plane_numel() * work);
  parallel_for(0, planes.count(), std::max<int64_t>(1, kGrain / cost), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      function(i);
    }
  });
}

/// Calls `function(in, out)` for each plane of `in` and the corresponding plane of `out`. `work` is the approximate
/// cost of an element of `out`, in additions.
template <typename T, typename Function>
void for_each_plane(const Tensor& in, Tensor& out, int64_t work, const Function& function) {
  const InputPlanes<T> sources{ConstStridedView(in)};
  const OutputPlanes<T> targets{StridedView(out)};
  for_each_plane(targets, work, [&](int64_t i) { function(sources[i], targets[i]); });
}

}  // namespace rules_executorch::kernels
