// Drives an op package that is compiled with the stand-in headers: calls the interface, and runs kernels.

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "HTP/core/simple_reg.h"
#include "QnnOpPackage.h"

namespace {

constexpr int kNoSuchOp = -1;
constexpr int kWrongTensorCount = -2;

// A tensor that Python describes.
struct FlatTensor {
  int32_t dtype;
  float scale;
  int32_t offset;
  uint64_t rank;
  uint64_t dims[8];
  void* data;
};

Tensor tensor_of(const FlatTensor& flat) {
  size_t dims[8];
  for (size_t i = 0; i < flat.rank; ++i) {
    dims[i] = flat.dims[i];
  }
  return Tensor({static_cast<DType>(flat.dtype), flat.scale, flat.offset}, dims, flat.rank, flat.data);
}

template <typename Node>
const Node* find(const Node* node, const char* type) {
  while (node && std::strcmp(node->type, type) != 0) {
    node = node->next;
  }
  return node;
}

// The default of a parameter as a number.
float number_of(const Qnn_Param_t& param) {
  switch (param.scalarParam.dataType) {
    case QNN_DATATYPE_FLOAT_32:
      return param.scalarParam.floatValue;
    case QNN_DATATYPE_UINT_32:
      return static_cast<float>(param.scalarParam.uint32Value);
    default:
      return static_cast<float>(param.scalarParam.int32Value);
  }
}

struct Package {
  QnnOpPackage_Interface_t interface;
  const stand_in::Op* ops;
  const stand_in::ParamOrder* orders;
  std::string info;
};

}  // namespace

extern "C" {

// Returns null if the library cannot be loaded or lacks the provider. dlerror() has the reason.
Package* driver_open(const char* path, const char* provider) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    return nullptr;
  }
  const auto provide = reinterpret_cast<Qnn_ErrorHandle_t (*)(QnnOpPackage_Interface_t*)>(dlsym(library, provider));
  const auto ops = reinterpret_cast<const stand_in::Op* (*)()>(dlsym(library, "stand_in_ops"));
  const auto orders = reinterpret_cast<const stand_in::ParamOrder* (*)()>(dlsym(library, "stand_in_param_orders"));
  auto* package = new Package{};
  if (!provide || !ops || !orders || provide(nullptr) == QNN_SUCCESS || provide(&package->interface) != QNN_SUCCESS) {
    delete package;
    return nullptr;
  }
  package->ops = ops();
  package->orders = orders();
  return package;
}

uint64_t driver_init(Package* package) { return package->interface.v1_4.init(nullptr); }

uint64_t driver_terminate(Package* package) { return package->interface.v1_4.terminate(); }

uint64_t driver_log(Package* package, int32_t level) {
  const auto& interface = package->interface.v1_4;
  const QnnLog_Callback_t callback = [](const char*, QnnLog_Level_t, uint64_t, va_list) {};
  const auto status = interface.logInitialize(callback, static_cast<QnnLog_Level_t>(level));
  return status == QNN_SUCCESS ? interface.logTerminate() : status;
}

// Returns the package's name, the build id, and the ops, one a line; null before init.
const char* driver_info(Package* package) {
  const QnnOpPackage_Info_t* info = nullptr;
  if (package->interface.v1_4.getInfo(nullptr) == QNN_SUCCESS ||
      package->interface.v1_4.getInfo(&info) != QNN_SUCCESS) {
    return nullptr;
  }
  package->info = std::string(info->packageName) + "\n" + info->sdkBuildId;
  for (uint32_t i = 0; i < info->numOperations; ++i) {
    package->info += std::string("\n") + info->operationNames[i];
  }
  return package->info.c_str();
}

uint64_t driver_validate(Package* package, const char* name, const char* type, uint32_t inputs, uint32_t outputs,
                         uint32_t params, const char* const* param_names) {
  std::vector<Qnn_Param_t> values(params);
  for (uint32_t i = 0; i < params; ++i) {
    values[i] = QNN_PARAM_INIT;
    values[i].name = param_names[i];
  }
  Qnn_OpConfig_t config{1, {{"node", name, type, params, values.data(), inputs, nullptr, outputs, nullptr}}};
  return package->interface.v1_4.validateOpConfig(config);
}

// Runs a kernel with outputs, then inputs, then parameters in the registered order of the package. Missing parameters
// have their defaults. Returns the kernel's GraphStatus, or a negative number.
int driver_run(Package* package, const char* type, uint32_t count, const FlatTensor* flat, uint32_t params,
               const char* const* param_names, const FlatTensor* flat_params) {
  const stand_in::Op* op = find(package->ops, type);
  if (!op) {
    return kNoSuchOp;
  }
  std::vector<Tensor> tensors;
  for (uint32_t i = 0; i < count; ++i) {
    tensors.push_back(tensor_of(flat[i]));
  }
  static const size_t kScalarDims[] = {1, 1, 1, 1};
  std::array<float, 8> defaults{};
  const stand_in::ParamOrder* order = find(package->orders, type);
  for (size_t i = 0; order && i < order->params.size() && order->params[i].name; ++i) {
    const stand_in::Param& param = order->params[i];
    uint32_t given = 0;
    while (given < params && std::strcmp(param_names[given], param.name) != 0) {
      ++given;
    }
    if (given < params) {
      tensors.push_back(tensor_of(flat_params[given]));
    } else if (param.fallback) {
      defaults[i] = number_of(*param.fallback);
      tensors.push_back(Tensor({DType::Float32, 1, 0}, kScalarDims, 4, &defaults[i]));
    }
  }
  if (tensors.size() != op->tensor_count) {
    return kWrongTensorCount;
  }
  std::vector<Tensor*> pointers;
  for (Tensor& tensor : tensors) {
    pointers.push_back(&tensor);
  }
  return static_cast<int>(op->call(pointers.data()));
}

}  // extern "C"
