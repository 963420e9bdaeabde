// A stand-in for a header of Qualcomm's SDK: see README.md.
//
// Tensors of a graph, and a registry of ops in place of the backend's. Op packages rely on the standard headers that
// the SDK's bring.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "QnnOpPackage.h"

enum class GraphStatus { Success, ErrorFatal, ErrorPrecision, ErrorDimensions };

enum class DType { UNKNOWN, QUInt8, QUInt16, QInt16, Float32, Int32, QInt32, QInt8, Float16 };

struct DTypeScaleOff {
  DType dtype;
  float scale;
  int32_t offset;
};

class Tensor {
 public:
  Tensor(DTypeScaleOff type, const size_t* dims, size_t rank, void* data) : type_(type), rank_(rank), data_(data) {
    for (size_t i = 0; i < rank; ++i) {
      dims_[i] = dims[i];
    }
  }

  size_t rank() const { return rank_; }
  size_t dim(size_t index) const { return dims_[index]; }
  DTypeScaleOff get_dtype_intfc() const { return type_; }
  size_t total_storage_elements() const {
    size_t count = 1;
    for (size_t i = 0; i < rank_; ++i) {
      count *= dims_[i];
    }
    return count;
  }
  const void* raw_data_const() const { return data_; }
  void* raw_data() { return data_; }

  // Reads one element by its position, as a number.
  float operator()(size_t a, size_t b, size_t c, size_t d) const {
    const size_t index = ((a * dims_[1] + b) * dims_[2] + c) * dims_[3] + d;
    switch (type_.dtype) {
      case DType::Float32:
        return static_cast<const float*>(data_)[index];
      case DType::Int32:
        return static_cast<float>(static_cast<const int32_t*>(data_)[index]);
      case DType::QUInt8:
        return type_.scale * (static_cast<const uint8_t*>(data_)[index] - type_.offset);
      default:
        return 0;
    }
  }

 private:
  DTypeScaleOff type_;
  std::array<size_t, 8> dims_{};
  size_t rank_;
  void* data_;
};

// A node of a graph, which cost functions get.
class Op;

namespace stand_in {

// Calls a kernel with tensors in the order of its arguments.
using Call = GraphStatus (*)(Tensor* const* tensors);

struct Op {
  const char* type;
  size_t tensor_count;
  Call call;
  const Op* next;
};

inline const Op*& ops() {
  static const Op* first = nullptr;
  return first;
}

// What DEF_PACKAGE_PARAM_ORDER says of one parameter.
struct Param {
  const char* name;
  bool is_mandatory;
  const Qnn_Param_t* fallback;
};

struct ParamOrder {
  const char* type;
  std::array<Param, 8> params;
  const ParamOrder* next;
};

inline const ParamOrder*& param_orders() {
  static const ParamOrder* first = nullptr;
  return first;
}

template <auto kFunction>
struct Kernel;

template <typename... Arguments, GraphStatus (*kFunction)(Arguments...)>
struct Kernel<kFunction> {
  static constexpr size_t kCount = sizeof...(Arguments);

  template <size_t... kIndex>
  static GraphStatus call(Tensor* const* tensors, std::index_sequence<kIndex...>) {
    return kFunction(*tensors[kIndex]...);
  }
  static GraphStatus call(Tensor* const* tensors) { return call(tensors, std::make_index_sequence<kCount>()); }
};

struct Registration {
  Registration(const char* type, size_t count, Call call) : op{type, count, call, ops()} { ops() = &op; }
  Op op;
};

struct ParamOrderRegistration {
  template <typename... Params>
  ParamOrderRegistration(const char* type, Params... params) : order{type, {}, param_orders()} {
    add(0, params...);
    param_orders() = &order;
  }

  void add(size_t) {}
  template <typename... Params>
  void add(size_t index, const char* name, bool is_mandatory, const Qnn_Param_t* fallback, Params... others) {
    order.params[index] = {name, is_mandatory, fallback};
    add(index + 1, others...);
  }
  ParamOrder order;
};

}  // namespace stand_in

#define STAND_IN_JOIN_(a, b) a##b
#define STAND_IN_JOIN(a, b) STAND_IN_JOIN_(a, b)
#define STAND_IN_NAME(name) STAND_IN_JOIN(name, __COUNTER__)
#define STAND_IN_STRING_(name) #name
#define STAND_IN_STRING(name) STAND_IN_STRING_(name)
#define STAND_IN_STRIP(...) __VA_ARGS__

#define THIS_PKG_NAME_STR STAND_IN_STRING(THIS_PKG_NAME)

// In the sources of ops: each has a namespace of its own.
#define BEGIN_PKG_OP_DEFINITION(name) \
  namespace name {                    \
  void registered() {}                \
  namespace {
#define END_PKG_OP_DEFINITION(name) \
  }                                 \
  }
#define DEF_PACKAGE_OP(function, type)                          \
  const stand_in::Registration STAND_IN_NAME(registration_)(    \
      type, stand_in::Kernel<&STAND_IN_STRIP function>::kCount, \
      [](Tensor* const* tensors) { return stand_in::Kernel<&STAND_IN_STRIP function>::call(tensors); });
#define DEF_PACKAGE_OP_AND_COST_AND_FLAGS(function, type, ...) DEF_PACKAGE_OP(function, type)
#define DEF_PACKAGE_OP_AND_COST_F_AND_FLAGS(function, type, cost, ...)  \
  static_assert(std::is_same_v<decltype(&cost), float (*)(const Op*)>); \
  DEF_PACKAGE_OP(function, type)
#define DEF_PACKAGE_PARAM_ORDER(...) const stand_in::ParamOrderRegistration STAND_IN_NAME(order_)(__VA_ARGS__);

// In the interface. An op that is listed and that no source defines does not link.
#define DEFINE_UNIQ_TY()
#define BEGIN_PKG_OPS_OPTS_LIST()
#define DECLARE_PKG_OPS_OPTS_LIST(name)                      \
  namespace name {                                           \
  void registered();                                         \
  [[maybe_unused]] void (*const kRegistered)() = registered; \
  }
#define END_PKG_OPS_OPTS_LIST()
#define INIT_PACKAGE_OP_DEF()
#define INIT_PACKAGE_OPTIMIZATION_DEF()
#define INIT_PACKAGE_PARAM_ORDER_DEF()
#define LIST_PACKAGE_AXIS_PARAMS(...)
#define LIST_PACKAGE_PER_CHANNEL_QUANTIZED_OPS(...)
#define REGISTER_PACKAGE_PARAM_ORDERS()
#define REGISTER_PACKAGE_AXIS_PARAMS()
#define REGISTER_PACKAGE_PER_CHANNEL_QUANTIZED_OPS()
#define INIT_PKG_CORE_INIT_FUNC()                                                   \
  extern "C" QNN_API const stand_in::Op* stand_in_ops() { return stand_in::ops(); } \
  extern "C" QNN_API const stand_in::ParamOrder* stand_in_param_orders() { return stand_in::param_orders(); }
