// ExampleCustomOp, an op of the package CpuPackage for the CPU backend. Multiplies by three.

#include <cstddef>
#include <cstdint>

#include "CPU/QnnCpuOpPackage.h"
#include "QnnOpPackage.h"

Qnn_ErrorHandle_t ExampleCustomOpExecute(const QnnCpuOpPackage_Node_t& node) {
  const QnnCpuOpPackage_Tensor_t& input = *node.inputs[0];
  QnnCpuOpPackage_Tensor_t& output = *node.outputs[0];
  if (input.dataType != QNN_CPU_DATATYPE_FLOAT_32) {
    return QNN_OP_PACKAGE_ERROR_GENERAL;
  }
  size_t count = 1;
  for (uint32_t i = 0; i < input.rank; ++i) {
    count *= input.currentDimensions[i];
  }
  const float* in = static_cast<const float*>(input.data);
  float* out = static_cast<float*>(output.data);
  for (size_t i = 0; i < count; ++i) {
    out[i] = 3 * in[i];
  }
  return QNN_SUCCESS;
}
