// The runtime's ET_SWITCH_* macros for a dtype-selective build. Parameters and meaning are the same, but the cases that
// `selected_op_variants.h` excludes are not compiled. Include this header before the includes of a kernel.
#pragma once

#include <executorch/kernels/portable/cpu/selected_op_variants.h>
#include <executorch/runtime/kernel/kernel_includes.h>

#include <string_view>

// An excluded dtype reaches the code after the switch, like a dtype without a case.
#undef ET_INTERNAL_SWITCH_CASE
#define ET_INTERNAL_SWITCH_CASE(enum_type, CTYPE_ALIAS, ...)                                            \
  case enum_type: {                                                                                     \
    if constexpr (should_include_kernel_dtype(et_switch_name, enum_type)) {                             \
      using CTYPE_ALIAS [[maybe_unused]] = ::executorch::runtime::ScalarTypeToCppType<enum_type>::type; \
      return __VA_ARGS__();                                                                             \
    } else {                                                                                            \
      break;                                                                                            \
    }                                                                                                   \
  }

// If NAME is only known at run time, no case is excluded.
#undef ET_INTERNAL_SWITCH
#define ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME, ...)                                                                   \
  [&] {                                                                                                                \
    const auto& _st = TYPE;                                                                                            \
    constexpr bool et_name_is_constant = __builtin_constant_p(std::string_view(NAME).size());                          \
    [[maybe_unused]] constexpr const char* et_switch_name = et_name_is_constant ? static_cast<const char*>(NAME) : ""; \
    C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED("-Wswitch-enum")                                                        \
    switch (_st) {                                                                                                     \
      __VA_ARGS__                                                                                                      \
      default:                                                                                                         \
        break;                                                                                                         \
    }                                                                                                                  \
    C10_DIAGNOSTIC_POP()                                                                                               \
    CONTEXT.fail(torch::executor::Error::InvalidArgument);                                                             \
    ET_LOG(Error, "Unhandled dtype %s for %s: not selected for this dtype-selective build, or not supported at all",   \
           ::executorch::runtime::toString(_st), static_cast<const char*>(NAME));                                      \
  }()

// The dtype of a Scalar is not the dtype of a tensor, so that no selection covers it: its cases are always compiled.
#define ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ(enum_type, CTYPE_ALIAS, ...)                              \
  case ::executorch::aten::ScalarType::enum_type: {                                                  \
    using CTYPE_ALIAS [[maybe_unused]] =                                                             \
        ::executorch::runtime::ScalarTypeToCppType<::executorch::aten::ScalarType::enum_type>::type; \
    return __VA_ARGS__();                                                                            \
  }

#undef ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ_TYPES
#define ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ_TYPES(CTYPE_ALIAS, ...)   \
  ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ(Bool, CTYPE_ALIAS, __VA_ARGS__) \
  ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ(Long, CTYPE_ALIAS, __VA_ARGS__) \
  ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ(Double, CTYPE_ALIAS, __VA_ARGS__)

#undef ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ_REAL_TYPES
#define ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ_REAL_TYPES(CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ(Long, CTYPE_ALIAS, __VA_ARGS__)    \
  ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ(Double, CTYPE_ALIAS, __VA_ARGS__)

#undef ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ_INTB_TYPES
#define ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ_INTB_TYPES(CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ(Bool, CTYPE_ALIAS, __VA_ARGS__)    \
  ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ(Long, CTYPE_ALIAS, __VA_ARGS__)

#undef ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ_FLOATB_TYPES
#define ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ_FLOATB_TYPES(CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ(Bool, CTYPE_ALIAS, __VA_ARGS__)      \
  ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ(Double, CTYPE_ALIAS, __VA_ARGS__)
