// Calls functions of generated headers with tensors of too many dimensions.

#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace functions_test {

using executorch::aten::ArrayRef;
using executorch::aten::Scalar;
using executorch::aten::Tensor;
using executorch::runtime::KernelRuntimeContext;

/// A tensor of floats that owns its memory. It has `rank` dimensions that do not merge.
class OwnedTensor {
 public:
  explicit OwnedTensor(size_t rank) : sizes_(rank, 1), dim_order_(rank), strides_(rank, 2), data_(4, 1.0f) {
    sizes_.front() = sizes_.back() = 2;
    strides_.back() = 1;
    for (size_t d = 0; d < rank; ++d) dim_order_[d] = static_cast<executorch::aten::DimOrderType>(d);
    impl_ = std::make_unique<executorch::aten::TensorImpl>(executorch::aten::ScalarType::Float, rank, sizes_.data(),
                                                           data_.data(), dim_order_.data(), strides_.data());
  }

  Tensor tensor() { return Tensor(impl_.get()); }

 private:
  std::vector<executorch::aten::SizesType> sizes_;
  std::vector<executorch::aten::DimOrderType> dim_order_;
  std::vector<executorch::aten::StridesType> strides_;
  std::vector<float> data_;
  std::unique_ptr<executorch::aten::TensorImpl> impl_;
};

/// Creates the arguments of a call. Tensor number `chosen` has `rank` dimensions, the others have two.
class Arguments {
 public:
  Arguments(int chosen, size_t rank) : chosen_(chosen), rank_(rank) {}

  /// The number of tensors.
  int count() const { return count_; }

  template <typename T>
  std::decay_t<T>& make() {
    using Value = std::decay_t<T>;
    return *keep(std::make_unique<Value>(value(static_cast<Value*>(nullptr))));
  }

 private:
  Tensor value(const Tensor*) {
    const size_t rank = count_++ == chosen_ ? rank_ : 2;
    return keep(std::make_unique<OwnedTensor>(rank))->tensor();
  }
  Scalar value(const Scalar*) { return Scalar(int64_t{1}); }
  std::string_view value(const std::string_view*) { return "none"; }
  template <typename T>
  ArrayRef<T> value(const ArrayRef<T>*) {
    using Stored = std::conditional_t<std::is_same_v<T, bool>, char, T>;
    static_assert(sizeof(Stored) == sizeof(T));
    auto* const list = keep(std::make_unique<std::vector<Stored>>());
    for (int i = 0; i < 2; ++i) list->push_back(value(static_cast<T*>(nullptr)));
    return {reinterpret_cast<const T*>(list->data()), list->size()};
  }
  template <typename T>
  std::optional<T> value(const std::optional<T>*) {
    return value(static_cast<T*>(nullptr));
  }
  template <typename T>
  T value(const T*) {
    return T();
  }

  template <typename T>
  T* keep(std::unique_ptr<T> value) {
    T* const address = value.get();
    kept_.push_back(std::shared_ptr<T>(std::move(value)));
    return address;
  }

  int chosen_;
  size_t rank_;
  int count_ = 0;
  std::vector<std::shared_ptr<void>> kept_;
};

/// The results of the visits.
struct Found {
  int kernels = 0;
  int functions = 0;
  int calls = 0;
  int wrong = 0;
};
inline Found& found() {
  static Found found;
  return found;
}

/// Visits all functions of the headers. Defined in the generated source.
void visit_all();

/// Visits a kernel. The program only links if the kernel is defined.
template <typename Result, typename... Parameters>
void visit_kernel(const char*, Result (*kernel)(Parameters...)) {
  found().kernels += kernel != nullptr;
}

/// Visits a typed function. The function must refuse tensors with more than 16 dimensions in all positions.
template <typename Result, typename... Parameters>
void visit_function(const char* name, Result (*function)(KernelRuntimeContext&, Parameters...)) {
  ++found().functions;
  for (const size_t rank : {size_t{17}, size_t{25}}) {
    int count = 1;
    for (int chosen = 0; chosen < count; ++chosen) {
      Arguments arguments(chosen, rank);
      // Braces guarantee the order of the evaluation.
      std::tuple<std::decay_t<Parameters>&...> values{arguments.template make<Parameters>()...};
      count = arguments.count();
      if (count == 0) return;
      KernelRuntimeContext context;
      std::apply([&](auto&... each) { function(context, each...); }, values);
      ++found().calls;
      if (context.failure_state() != executorch::runtime::Error::InvalidArgument) {
        std::fprintf(stderr, "%s takes %zu dimensions of tensor %d\n", name, rank, chosen);
        ++found().wrong;
      }
    }
  }
}

}  // namespace functions_test
