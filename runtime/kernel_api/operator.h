#pragma once

#ifndef RULES_EXECUTORCH_DECLARES_OPERATORS
#error "operators are declared in an et_kernel_library with declares_operators = True, which finds them"
#endif

// Declares an operator and its kernel in C++, instead of an entry in custom_ops.yaml:
//
//   EXECUTORCH_OPERATOR("my_ops::mul4.out(Tensor input, *, Tensor(a!) out) -> Tensor(a!)", custom::native::mul4_out)
//
// The kernel must be given by its qualified name. A leading KernelRuntimeContext& parameter is optional. The
// declaration has the same effect as a YAML entry: libraries that depend on this library register the operator if it is
// selected, and define it in PyTorch. The declaration does nothing at run time: the build reads it from the object
// file.
#define EXECUTORCH_OPERATOR(schema, kernel) RULES_EXECUTORCH_DECLARE(schema, kernel, __FILE__, __LINE__)

#define RULES_EXECUTORCH_DECLARE(schema, kernel, file, line) RULES_EXECUTORCH_DECLARE_AT(schema, kernel, file, line)
#define RULES_EXECUTORCH_DECLARE_AT(schema, kernel, file, line)              \
  [[gnu::used]] static constexpr char executorch_operator_of_line_##line[] = \
      "\0EXECUTORCH_OPERATOR\0" schema "\0" #kernel "\0" file "\0" #line "\0END"
