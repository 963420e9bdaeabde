// ExampleCustomOp, an op of the package ExampleOpPackage for the HTP backend.
//
// Multiplies by three.

#include <algorithm>
#include <cmath>

#include "HTP/core/constraints.h"
#include "HTP/core/op_package_feature_support.h"
#include "HTP/core/op_register_ext.h"
#include "HTP/core/optimize.h"
#include "HTP/core/simple_reg.h"
#include "QnnOpPackage.h"

BEGIN_PKG_OP_DEFINITION(PKG_ExampleCustomOp);

template <typename TensorType>
GraphStatus ExampleCustomOpImpl(TensorType& output, const TensorType& input);

// With a cost and flags: DEF_PACKAGE_OP_AND_COST_AND_FLAGS(function, name, SNAIL, Flags::RESOURCE_HVX)
DEF_PACKAGE_OP((ExampleCustomOpImpl<Tensor>), "ExampleCustomOp")

// An op runs on the DSP: no memory from the heap (new, std::vector, ...), and no exceptions.
template <typename TensorType>
GraphStatus ExampleCustomOpImpl(TensorType& output, const TensorType& input) {
  const size_t elements = input.total_storage_elements();
  if (output.total_storage_elements() != elements) {
    return GraphStatus::ErrorDimensions;
  }
  const DTypeScaleOff from = input.get_dtype_intfc(), to = output.get_dtype_intfc();
  if (from.dtype != to.dtype) {
    return GraphStatus::ErrorPrecision;
  }
  switch (from.dtype) {
    case DType::Float32: {
      const float* in = static_cast<const float*>(input.raw_data_const());
      float* out = static_cast<float*>(output.raw_data());
      for (size_t i = 0; i < elements; ++i) {
        out[i] = 3 * in[i];
      }
      return GraphStatus::Success;
    }
    case DType::QUInt8: {
      // A value means scale * (value - offset).
      const uint8_t* in = static_cast<const uint8_t*>(input.raw_data_const());
      uint8_t* out = static_cast<uint8_t*>(output.raw_data());
      const float factor = 3 * from.scale / to.scale;
      for (size_t i = 0; i < elements; ++i) {
        const float value =
            std::nearbyint(factor * static_cast<float>(in[i] - from.offset)) + static_cast<float>(to.offset);
        out[i] = static_cast<uint8_t>(std::min(std::max(value, 0.0f), 255.0f));
      }
      return GraphStatus::Success;
    }
    default:
      return GraphStatus::ErrorPrecision;
  }
}

END_PKG_OP_DEFINITION(PKG_ExampleCustomOp);
