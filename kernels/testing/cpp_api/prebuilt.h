// The results of ExecuTorch's own kernels, from its wheel, for the same arguments.

#pragma once

#include <dlfcn.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/testing/op_call.h"

namespace cpp_api {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::extension::TensorPtr;
using executorch::runtime::EValue;

/// Registers ExecuTorch's kernels. They are loaded and not linked. Otherwise, their calls of each other would reach the
/// kernels of this binary, which have the same names.
inline void load_prebuilt_kernels(const char* libraries) {
  for (std::string_view rest = libraries; !rest.empty();) {
    const std::string path(rest.substr(0, rest.find(':')));
    rest.remove_prefix(std::min(rest.size(), path.size() + 1));
    ASSERT_NE(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror();
  }
}

inline void push(op_caller::OpCall& call, const Tensor& tensor) { call.push(EValue(tensor)); }
inline void push(op_caller::OpCall& call, const TensorPtr& tensor) { call.push(EValue(*tensor)); }
inline void push(op_caller::OpCall& call, std::nullopt_t) { call.push(EValue()); }
inline void push(op_caller::OpCall& call, bool value) { call.push(EValue(value)); }
inline void push(op_caller::OpCall& call, double value) { call.push(EValue(value)); }
inline void push(op_caller::OpCall& call, int value) { call.push(EValue(int64_t{value})); }
inline void push(op_caller::OpCall& call, ScalarType value) { call.push(EValue(static_cast<int64_t>(value))); }
inline void push(op_caller::OpCall& call, std::string_view text) { call.push_array(text.data(), text.size()); }
inline void push(op_caller::OpCall& call, const std::vector<double>& list) {
  call.push_array(list.data(), list.size());
}
inline void push(op_caller::OpCall& call, const std::vector<int64_t>& list) {
  call.push_int_list(list.data(), list.size());
}
inline void push(op_caller::OpCall& call, const std::vector<Tensor>& list) {
  for (const Tensor& tensor : list) push(call, tensor);
  call.push_list_of_last<Tensor>(list.size(), Tensor(nullptr));
}
inline void push(op_caller::OpCall& call, const std::vector<std::optional<Tensor>>& list) {
  for (const std::optional<Tensor>& tensor : list) call.push(tensor ? EValue(*tensor) : EValue());
  call.push_list_of_last<std::optional<Tensor>>(list.size(), std::nullopt);
}

template <typename T>
void expect_near(const Tensor& ours, const Tensor& theirs) {
  for (int64_t i = 0; i < ours.numel(); ++i) {
    const double value = ours.const_data_ptr<T>()[i], expected = theirs.const_data_ptr<T>()[i];
    if (value != expected && !(std::isnan(value) && std::isnan(expected))) {
      EXPECT_NEAR(value, expected, 1e-5 * std::max(1.0, std::abs(expected))) << "element " << i;
    }
  }
}

inline void expect_same(const Tensor& ours, const Tensor& theirs) {
  ASSERT_EQ(ours.scalar_type(), theirs.scalar_type());
  ASSERT_EQ(std::vector<int>(ours.sizes().begin(), ours.sizes().end()),
            std::vector<int>(theirs.sizes().begin(), theirs.sizes().end()));
  switch (ours.scalar_type()) {
    case ScalarType::Float:
      return expect_near<float>(ours, theirs);
    case ScalarType::Double:
      return expect_near<double>(ours, theirs);
    default:
      EXPECT_EQ(std::string_view(static_cast<const char*>(ours.const_data_ptr()), ours.nbytes()),
                std::string_view(static_cast<const char*>(theirs.const_data_ptr()), theirs.nbytes()));
  }
}

/// Expects that our results, `outs`, equal the results of ExecuTorch's kernel.
template <typename... Arguments>
void expect_as_prebuilt(const char* name, const std::vector<TensorPtr>& outs, const Arguments&... arguments) {
  SCOPED_TRACE(name);
  const auto kernel = executorch::runtime::get_op_function_from_registry(name);
  ASSERT_TRUE(kernel.ok());
  op_caller::OpCall call(*kernel);
  (push(call, arguments), ...);
  std::vector<TensorPtr> theirs;
  for (const TensorPtr& out : outs) {
    theirs.push_back(executorch::extension::clone_tensor_ptr(out));
    std::memset(theirs.back()->mutable_data_ptr(), 0x5a, out->nbytes());
    push(call, theirs.back());
  }
  ASSERT_EQ(call.run(outs.size()), executorch::runtime::Error::Ok);
  for (size_t i = 0; i < outs.size(); ++i) {
    expect_same(*outs[i], *theirs[i]);
  }
}

}  // namespace cpp_api
