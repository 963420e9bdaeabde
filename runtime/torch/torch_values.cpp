#include "runtime/torch/torch_values.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rules_executorch {

using c10::IValue;

bool IsWritten(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

namespace {

std::vector<at::Tensor> TensorsOfOne(const IValue& value) {
  std::vector<at::Tensor> tensors;
  if (value.isTensor()) {
    if (value.toTensor().defined()) tensors.push_back(value.toTensor());
  } else if (value.isList()) {
    for (const IValue& element : value.toListRef()) {
      if (element.isTensor() && element.toTensor().defined()) tensors.push_back(element.toTensor());
    }
  }
  return tensors;
}

}  // namespace

std::vector<at::Tensor> TensorsOf(at::ArrayRef<IValue> values) {
  std::vector<at::Tensor> tensors;
  for (const IValue& value : values) {
    for (at::Tensor& tensor : TensorsOfOne(value)) tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::vector<DimOrderType> DimOrderOf(const at::Tensor& tensor) {
  std::vector<DimOrderType> order(tensor.dim());
  std::iota(order.begin(), order.end(), 0);
  if (tensor.is_contiguous()) return order;
  const bool channels_last = (tensor.dim() == 4 && tensor.is_contiguous(at::MemoryFormat::ChannelsLast)) ||
                             (tensor.dim() == 5 && tensor.is_contiguous(at::MemoryFormat::ChannelsLast3d));
  if (!channels_last) return {};
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

Sizes SizesOf(const executorch::aten::Tensor& tensor) { return {tensor.sizes().begin(), tensor.sizes().end()}; }

}  // namespace rules_executorch
