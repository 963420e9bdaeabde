// A stand-in for a header of Qualcomm's SDK: see README.md.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>

using Qnn_ErrorHandle_t = uint64_t;

constexpr Qnn_ErrorHandle_t QNN_SUCCESS = 0;
constexpr Qnn_ErrorHandle_t QNN_OP_PACKAGE_ERROR_LIBRARY_ALREADY_INITIALIZED = 1;
constexpr Qnn_ErrorHandle_t QNN_OP_PACKAGE_ERROR_LIBRARY_NOT_INITIALIZED = 2;
constexpr Qnn_ErrorHandle_t QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT = 3;
constexpr Qnn_ErrorHandle_t QNN_OP_PACKAGE_ERROR_INVALID_INFO = 4;
constexpr Qnn_ErrorHandle_t QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE = 5;
constexpr Qnn_ErrorHandle_t QNN_OP_PACKAGE_ERROR_GENERAL = 7;
constexpr Qnn_ErrorHandle_t QNN_LOG_ERROR_INVALID_ARGUMENT = 6;

struct Qnn_Version_t {
  uint32_t major;
  uint32_t minor;
  uint32_t patch;
};

struct Qnn_ApiVersion_t {
  Qnn_Version_t coreApiVersion;
  Qnn_Version_t backendApiVersion;
};

enum QnnLog_Level_t { QNN_LOG_LEVEL_ERROR = 1, QNN_LOG_LEVEL_WARN = 2, QNN_LOG_LEVEL_INFO = 3 };
using QnnLog_Callback_t = void (*)(const char* format, QnnLog_Level_t level, uint64_t timestamp, va_list arguments);

enum Qnn_DataType_t {
  QNN_DATATYPE_INT_8,
  QNN_DATATYPE_INT_16,
  QNN_DATATYPE_INT_32,
  QNN_DATATYPE_UINT_8,
  QNN_DATATYPE_UINT_16,
  QNN_DATATYPE_UINT_32,
  QNN_DATATYPE_FLOAT_32,
  QNN_DATATYPE_BOOL_8,
};

enum Qnn_ParamType_t { QNN_PARAMTYPE_SCALAR, QNN_PARAMTYPE_TENSOR };

struct Qnn_Scalar_t {
  Qnn_DataType_t dataType;
  union {
    float floatValue;
    int8_t int8Value;
    int16_t int16Value;
    int32_t int32Value;
    uint8_t uint8Value;
    uint16_t uint16Value;
    uint32_t uint32Value;
    uint8_t bool8Value;
  };
};

struct Qnn_Tensor_t;

struct Qnn_Param_t {
  Qnn_ParamType_t paramType;
  const char* name;
  union {
    Qnn_Scalar_t scalarParam;
    Qnn_Tensor_t* tensorParam;
  };
};

#define QNN_PARAM_INIT               \
  {                                  \
    QNN_PARAMTYPE_SCALAR, nullptr, { \
      {                              \
        QNN_DATATYPE_INT_32, {0}     \
      }                              \
    }                                \
  }

struct Qnn_OpConfigV1_t {
  const char* name;
  const char* packageName;
  const char* typeName;
  uint32_t numOfParams;
  Qnn_Param_t* params;
  uint32_t numOfInputs;
  Qnn_Tensor_t* inputTensors;
  uint32_t numOfOutputs;
  Qnn_Tensor_t* outputTensors;
};

struct Qnn_OpConfig_t {
  uint32_t version;
  union {
    Qnn_OpConfigV1_t v1;
  };
};

struct QnnOpPackage_Info_t {
  const char* packageName;
  const char** operationNames;
  const void* operationInfo;
  uint32_t numOperations;
  const void* optimizations;
  uint32_t numOptimizations;
  const char* sdkBuildId;
  const Qnn_ApiVersion_t* sdkApiVersion;
};

#define QNN_OP_PACKAGE_INFO_INIT {nullptr, nullptr, nullptr, 0, nullptr, 0, nullptr, nullptr}

using QnnOpPackage_GlobalInfrastructure_t = struct QnnOpPackage_GlobalInfrastructure*;
using QnnOpPackage_GraphInfrastructure_t = struct QnnOpPackage_GraphInfrastructure*;
using QnnOpPackage_Node_t = struct QnnOpPackage_Node*;
using QnnOpPackage_OpImpl_t = struct QnnOpPackage_OpImpl*;

struct QnnOpPackage_ImplementationV1_4_t {
  Qnn_ErrorHandle_t (*init)(QnnOpPackage_GlobalInfrastructure_t);
  Qnn_ErrorHandle_t (*terminate)();
  Qnn_ErrorHandle_t (*getInfo)(const QnnOpPackage_Info_t**);
  Qnn_ErrorHandle_t (*validateOpConfig)(Qnn_OpConfig_t);
  Qnn_ErrorHandle_t (*createOpImpl)(QnnOpPackage_GraphInfrastructure_t, QnnOpPackage_Node_t, QnnOpPackage_OpImpl_t*);
  Qnn_ErrorHandle_t (*freeOpImpl)(QnnOpPackage_OpImpl_t);
  Qnn_ErrorHandle_t (*logInitialize)(QnnLog_Callback_t, QnnLog_Level_t);
  Qnn_ErrorHandle_t (*logSetLevel)(QnnLog_Level_t);
  Qnn_ErrorHandle_t (*logTerminate)();
};

struct QnnOpPackage_Interface_t {
  Qnn_Version_t interfaceVersion;
  union {
    QnnOpPackage_ImplementationV1_4_t v1_4;
  };
};
