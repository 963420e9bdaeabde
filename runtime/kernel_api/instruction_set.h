#pragma once

namespace rules_executorch {

/// Instruction sets that kernels are compiled for, each comprising those before it.
enum class InstructionSet {
  kBaseline,  ///< what every processor of the architecture has
#if defined(__aarch64__)
  kDotprod,   ///< Armv8 with dot products of bytes
  kI8mmBf16,  ///< besides, products of matrices of bytes and of bfloat16
#else
  kAvx2,        ///< x86-64-v3: AVX2, FMA, F16C, BMI
  kAvx512,      ///< x86-64-v4: AVX-512 F, BW, CD, DQ, VL
  kAvx512Bf16,  ///< besides, AVX-512 BF16 and VNNI
#endif
};

/// Whether kernels for an instruction set run here: whether the processor has it, and the environment does not say
/// less. `EXECUTORCH_INSTRUCTION_SET` names the widest set to use, for example `avx2`. A name that is none ends the
/// program.
bool has_instruction_set(InstructionSet instruction_set);

/// Ends the program where the processor lacks what all of its kernels are compiled for.
void require_instruction_set(InstructionSet instruction_set);

}  // namespace rules_executorch
