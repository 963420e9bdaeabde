#include "runtime/torch/result_candidates.h"

#include <ATen/core/jit_type.h>

#include <algorithm>
#include <optional>

namespace rules_executorch {
namespace {

using c10::FunctionSchema;
using c10::IValue;

// The dtypes for trial calls after the dtype that PyTorch would expect, in this order.
constexpr at::ScalarType kDtypes[] = {at::kLong,   at::kBool,   at::kFloat,    at::kInt,   at::kByte,
                                      at::kDouble, at::kHalf,   at::kBFloat16, at::kShort, at::kChar,
                                      at::kUInt16, at::kUInt32, at::kUInt64};

}  // namespace

Sizes LikelySizes(const std::vector<at::Tensor>& tensors) {
  Sizes common;
  for (const at::Tensor& tensor : tensors) {
    Sizes sizes;
    for (const c10::SymInt& size : tensor.sym_sizes()) {
      sizes.push_back(static_cast<SizesType>(size.guard_int(__FILE__, __LINE__)));
    }
    if (sizes.size() > common.size()) common.insert(common.begin(), sizes.size() - common.size(), 1);
    for (size_t i = 0; i < sizes.size(); ++i) {
      SizesType& size = common[common.size() - sizes.size() + i];
      if (size == 1) size = sizes[i];
    }
  }
  return common;
}

std::vector<at::ScalarType> CandidateDtypes(const FunctionSchema& schema, at::ArrayRef<IValue> arguments) {
  std::vector<at::ScalarType> dtypes;
  const auto add = [&dtypes](at::ScalarType dtype) {
    if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end()) dtypes.push_back(dtype);
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    c10::TypePtr type = schema.arguments()[i].real_type();
    if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
    if (type->kind() == c10::TypeKind::ScalarTypeType && arguments[i].isInt()) add(arguments[i].toScalarType());
  }
  std::optional<at::ScalarType> common;
  for (const at::Tensor& tensor : TensorsOf(arguments)) {
    const at::ScalarType dtype = tensor.scalar_type();
    if (!common) common = dtype;
    if (*common == dtype || c10::isQIntType(*common) || c10::isQIntType(dtype)) continue;
    common = c10::promoteTypes(*common, dtype);
  }
  add(common.value_or(at::kFloat));
  for (const at::ScalarType dtype : kDtypes) add(dtype);
  return dtypes;
}

}  // namespace rules_executorch
