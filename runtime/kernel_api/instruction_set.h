#pragma once

namespace rules_executorch {

/// The instruction sets for which kernels are compiled. Each one includes the previous ones.
enum class InstructionSet {
  kBaseline,  ///< the instructions that all processors of the architecture have
#if defined(__aarch64__)
  kDotprod,   ///< Armv8 with dot products of bytes
  kI8mmBf16,  ///< and products of matrices of bytes and of bfloat16
#else
  kAvx2,        ///< x86-64-v3: AVX2, FMA, F16C, BMI
  kAvx512,      ///< x86-64-v4: AVX-512 F, BW, CD, DQ, VL
  kAvx512Bf16,  ///< and AVX-512 BF16 and VNNI
#endif
};

/// Whether kernels for an instruction set may run: the processor has the set, and the environment does not exclude it.
/// `EXECUTORCH_INSTRUCTION_SET` names the widest set to use, for example `avx2`. An unknown name ends the program.
bool has_instruction_set(InstructionSet instruction_set);

/// Ends the program if the processor lacks the instruction set of the kernels.
void require_instruction_set(InstructionSet instruction_set);

}  // namespace rules_executorch
