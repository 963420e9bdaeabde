// ScaledHalves, an op of the package ExampleOpPackage for the HTP backend.
//
// Multiplies by a factor, and splits the last dimension into two halves.

#include "HTP/core/constraints.h"
#include "HTP/core/op_package_feature_support.h"
#include "HTP/core/op_register_ext.h"
#include "HTP/core/optimize.h"
#include "HTP/core/simple_reg.h"
#include "QnnOpPackage.h"

BEGIN_PKG_OP_DEFINITION(PKG_ScaledHalves);

template <typename TensorType>
GraphStatus ScaledHalvesImpl(TensorType& first, TensorType& second, const TensorType& input, const Tensor& factor);

// With a cost and flags: DEF_PACKAGE_OP_AND_COST_AND_FLAGS(function, name, SNAIL, Flags::RESOURCE_HVX)
DEF_PACKAGE_OP((ScaledHalvesImpl<Tensor>), "ScaledHalves")

static Qnn_Param_t factor_default = [] {
  Qnn_Param_t param = QNN_PARAM_INIT;
  param.paramType = QNN_PARAMTYPE_SCALAR;
  param.name = "factor";
  param.scalarParam.dataType = QNN_DATATYPE_FLOAT_32;
  param.scalarParam.floatValue = 1.0;
  return param;
}();

DEF_PACKAGE_PARAM_ORDER("ScaledHalves", "factor", false, &factor_default)

// An op runs on the DSP: no memory from the heap (new, std::vector, ...), and no exceptions.
template <typename TensorType>
GraphStatus ScaledHalvesImpl(TensorType& first, TensorType& second, const TensorType& input, const Tensor& factor) {
  if (input.get_dtype_intfc().dtype != DType::Float32 || first.get_dtype_intfc().dtype != DType::Float32 ||
      second.get_dtype_intfc().dtype != DType::Float32) {
    return GraphStatus::ErrorPrecision;
  }
  const size_t half = first.dim(3);
  const size_t elements = input.total_storage_elements();
  if (input.dim(3) != 2 * half || first.total_storage_elements() * 2 != elements ||
      second.total_storage_elements() * 2 != elements) {
    return GraphStatus::ErrorDimensions;
  }
  const float scale = factor(0, 0, 0, 0);
  const float* in = static_cast<const float*>(input.raw_data_const());
  float* halves[] = {static_cast<float*>(first.raw_data()), static_cast<float*>(second.raw_data())};
  for (size_t begin = 0; begin < elements; begin += half) {
    // The halves take turns, row by row.
    float*& out = halves[begin / half % 2];
    for (size_t i = begin; i < begin + half; ++i) {
      *out++ = scale * in[i];
    }
  }
  return GraphStatus::Success;
}

END_PKG_OP_DEFINITION(PKG_ScaledHalves);
