// MyRelu, an op in the form that qnn-op-package-generator gives sources: with a cost function and a log of the DSP's.

#include "HTP/core/constraints.h"
#include "HTP/core/op_package_feature_support.h"
#include "HTP/core/op_register_ext.h"
#include "HTP/core/optimize.h"
#include "HTP/core/simple_reg.h"
#include "QnnOpPackage.h"
#ifdef __hexagon__
#include "HAP_farf.h"
#else
#include <cstdio>
#define FARF(level, fmt, ...) printf(fmt "\n", ##__VA_ARGS__)
#endif

// In bound.S.
extern "C" const float my_relu_bound;

BEGIN_PKG_OP_DEFINITION(PKG_MyRelu);

template <typename TensorType>
GraphStatus myreluImpl(TensorType& out_0, const TensorType& in_0);

static float myreluCostFunc(const Op* op);

DEF_PACKAGE_OP_AND_COST_F_AND_FLAGS((myreluImpl<Tensor>), "MyRelu", myreluCostFunc, Flags::RESOURCE_HVX)

template <typename TensorType>
GraphStatus myreluImpl(TensorType& out_0, const TensorType& in_0) {
  const size_t elements = in_0.total_storage_elements();
  DTypeScaleOff in = in_0.get_dtype_intfc();
  DTypeScaleOff out = out_0.get_dtype_intfc();
  if (out_0.total_storage_elements() != elements) {
    FARF(ALWAYS, "%zu elements of dtype %d", elements, in.dtype);
    return GraphStatus::ErrorDimensions;
  }
  if (in.dtype == DType::Float32) {
    const float* from = static_cast<const float*>(in_0.raw_data_const());
    float* to = static_cast<float*>(out_0.raw_data());
    for (size_t i = 0; i < elements; ++i) {
      to[i] = from[i] > my_relu_bound ? from[i] : my_relu_bound;
    }
  } else if (in.dtype == DType::QUInt8) {
    const uint8_t* from = static_cast<const uint8_t*>(in_0.raw_data_const());
    uint8_t* to = static_cast<uint8_t*>(out_0.raw_data());
    for (size_t i = 0; i < elements; ++i) {
      const float value = in.scale * (from[i] - in.offset);
      const float bounded = (value > my_relu_bound ? value : my_relu_bound) / out.scale + out.offset + 0.5f;
      to[i] = bounded > 255.0f ? 255 : static_cast<uint8_t>(bounded);
    }
  } else {
    return GraphStatus::ErrorPrecision;
  }
  return GraphStatus::Success;
}

__attribute__((unused)) static float myreluCostFunc(const Op* op) {
  float cost = 0.0;
  return cost;
}

END_PKG_OP_DEFINITION(PKG_MyRelu);
