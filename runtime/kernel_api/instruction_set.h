#pragma once

namespace rules_executorch {

/// Instruction sets that kernels are compiled for, each comprising those before it: on x86-64, the levels of its psABI.
enum class InstructionSet {
  kBaseline,  ///< what every processor of the architecture has
  kAvx2,      ///< x86-64-v3: AVX2, FMA, F16C, BMI
  kAvx512,    ///< x86-64-v4: AVX-512 F, BW, CD, DQ, VL
};

/// Whether kernels for an instruction set run here: whether the processor has it, and the environment does not say
/// less. `EXECUTORCH_INSTRUCTION_SET` names the widest set to use, `baseline`, `avx2` or `avx512`. Any other value ends
/// the program.
bool has_instruction_set(InstructionSet instruction_set);

}  // namespace rules_executorch
