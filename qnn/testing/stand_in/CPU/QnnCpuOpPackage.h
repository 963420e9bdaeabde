// A stand-in for a header of Qualcomm's SDK: see README.md.
#pragma once

#include <cstdint>

#include "QnnOpPackage.h"

enum QnnCpu_DataType_t {
  QNN_CPU_DATATYPE_UNDEFINED,
  QNN_CPU_DATATYPE_BOOL_8,
  QNN_CPU_DATATYPE_FLOAT_32,
  QNN_CPU_DATATYPE_INT_8,
  QNN_CPU_DATATYPE_INT_32,
  QNN_CPU_DATATYPE_UINT_8,
  QNN_CPU_DATATYPE_UINT_32,
};

struct QnnCpuOpPackage_Tensor_t {
  QnnCpu_DataType_t dataType;
  uint32_t rank;
  uint32_t* currentDimensions;
  void* data;
};

struct QnnCpuOpPackage_Param_t {
  const char* name;
  union {
    double scalarParam;
    QnnCpuOpPackage_Tensor_t* tensorParam;
  };
};

struct QnnCpuOpPackage_Node_t {
  const char* name;
  const char* packageName;
  const char* typeName;
  uint32_t numOfParams;
  QnnCpuOpPackage_Param_t** params;
  uint32_t numOfInputs;
  QnnCpuOpPackage_Tensor_t** inputs;
  uint32_t numOfOutputs;
  QnnCpuOpPackage_Tensor_t** outputs;
};

struct QnnCpuOpPackage_OpImpl_t {
  Qnn_ErrorHandle_t (*opImplFn)(void* user_data);
  void* userData;
};
