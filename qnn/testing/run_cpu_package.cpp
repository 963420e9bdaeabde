// Runs a node of the op ExampleCustomOp of a package for the CPU backend, as the backend would.
//
// run_cpu_package <library> <package> [1 or 2, of an op with any number of inputs]

#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "CPU/QnnCpuOpPackage.h"
#include "QnnOpPackage.h"

int main(int argc, char** argv) {
  void* library = argc == 3 || argc == 4 ? dlopen(argv[1], RTLD_NOW) : nullptr;
  if (!library) {
    return 6;
  }
  const char* name = argv[2];
  const uint32_t input_count = argc == 4 ? std::stoi(argv[3]) : 1;
  const auto provide = reinterpret_cast<Qnn_ErrorHandle_t (*)(QnnOpPackage_Interface_t*)>(
      dlsym(library, (std::string(name) + "InterfaceProvider").c_str()));
  QnnOpPackage_Interface_t interface;
  if (!provide || provide(nullptr) == QNN_SUCCESS || provide(&interface) != QNN_SUCCESS) {
    return 1;
  }
  const auto& package = interface.v1_4;
  const QnnOpPackage_Info_t* info = nullptr;
  if (package.getInfo(&info) == QNN_SUCCESS || package.init(nullptr) != QNN_SUCCESS ||
      package.getInfo(&info) != QNN_SUCCESS || info->numOperations != 1) {
    return 2;
  }
  Qnn_OpConfig_t right{1, {{"node", name, "ExampleCustomOp", 0, nullptr, input_count, nullptr, 1, nullptr}}};
  const uint32_t wrong_count = argc == 4 ? 0 : 2;
  Qnn_OpConfig_t wrong{1, {{"node", name, "ExampleCustomOp", 0, nullptr, wrong_count, nullptr, 1, nullptr}}};
  if (package.validateOpConfig(right) != QNN_SUCCESS || package.validateOpConfig(wrong) == QNN_SUCCESS) {
    return 3;
  }
  float in[] = {1, -2, 0.5}, out[3] = {};
  uint32_t dims[] = {3};
  QnnCpuOpPackage_Tensor_t input{QNN_CPU_DATATYPE_FLOAT_32, 1, dims, in};
  QnnCpuOpPackage_Tensor_t output{QNN_CPU_DATATYPE_FLOAT_32, 1, dims, out};
  QnnOpPackage_OpImpl_t op = nullptr;
  {
    // The node and its arrays are destroyed before the op runs.
    QnnCpuOpPackage_Tensor_t *inputs[] = {&input, &input}, *outputs[] = {&output};
    QnnCpuOpPackage_Node_t node{"node", name, "ExampleCustomOp", 0, nullptr, input_count, inputs, 1, outputs};
    QnnCpuOpPackage_Node_t other = node;
    other.typeName = "Other";
    if (package.createOpImpl(nullptr, reinterpret_cast<QnnOpPackage_Node_t>(&other), &op) == QNN_SUCCESS ||
        package.createOpImpl(nullptr, reinterpret_cast<QnnOpPackage_Node_t>(&node), &op) != QNN_SUCCESS) {
      return 4;
    }
    inputs[0] = inputs[1] = outputs[0] = nullptr;
  }
  const auto& implementation = *reinterpret_cast<QnnCpuOpPackage_OpImpl_t*>(op);
  if (implementation.opImplFn(implementation.userData) != QNN_SUCCESS || package.freeOpImpl(op) != QNN_SUCCESS ||
      package.terminate() != QNN_SUCCESS) {
    return 5;
  }
  std::printf("%g %g %g\n", out[0], out[1], out[2]);
  return 0;
}
