#pragma once

#include <cstdint>

namespace compiled_program {

/// The result of a call of a compiled program.
struct Status {
  /// 0 for success, or a number of ExecuTorch's `executorch::runtime::Error`, such as 0x21 (MemoryAllocationFailed) if
  /// the scratch memory is too small.
  uint32_t error = 0;

  /// The instruction that failed, whose operator `operator_name()` of the class returns. -1 if no instruction failed.
  int32_t instruction = -1;

  bool ok() const { return error == 0; }
};

}  // namespace compiled_program
