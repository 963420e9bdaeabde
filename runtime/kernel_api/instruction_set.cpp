#include "runtime/kernel_api/instruction_set.h"

#include <executorch/runtime/platform/abort.h>
#include <executorch/runtime/platform/assert.h>
#include <executorch/runtime/platform/log.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

namespace rules_executorch {
namespace {

constexpr const char* kVariable = "EXECUTORCH_INSTRUCTION_SET";

#if defined(__aarch64__)
constexpr const char* kNames[] = {"baseline", "dotprod", "i8mm_bf16"};
#define NAMES_AS_TEXT "baseline, dotprod or i8mm_bf16"
#else
constexpr const char* kNames[] = {"baseline", "avx2", "avx512", "avx512_bf16"};
#define NAMES_AS_TEXT "baseline, avx2, avx512 or avx512_bf16"
#endif

constexpr auto kWidest = static_cast<InstructionSet>(std::size(kNames) - 1);

#if defined(__x86_64__) && defined(__GNUC__)

// __builtin_cpu_supports of Clang 14 has no names for the architecture's levels, F16C, LZCNT and MOVBE.
bool is_x86_64_v3() {
  constexpr unsigned kNameless = bit_F16C | bit_MOVBE;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & kNameless) != kNameless ||
      __get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) == 0 || (ecx & bit_LZCNT) == 0) {
    return false;
  }
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("fma");
}

bool is_x86_64_v4() {
  return is_x86_64_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

#endif

InstructionSet of_processor() {
#if defined(__x86_64__) && defined(__GNUC__)
  // Before main, the compiler's runtime may not be initialized.
  __builtin_cpu_init();
  if (is_x86_64_v4()) {
    return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vnni") ? InstructionSet::kAvx512Bf16
                                                                                        : InstructionSet::kAvx512;
  }
  if (is_x86_64_v3()) {
    return InstructionSet::kAvx2;
  }
#elif defined(__aarch64__) && defined(__linux__)
  // The extensions of Armv8.2-A that compilers use, and dot products.
  constexpr auto kArmv82 = HWCAP_ATOMICS | HWCAP_CRC32 | HWCAP_ASIMDRDM | HWCAP_ASIMDDP;
  if ((getauxval(AT_HWCAP) & kArmv82) == kArmv82) {
    constexpr auto kBoth = HWCAP2_I8MM | HWCAP2_BF16;
    return (getauxval(AT_HWCAP2) & kBoth) == kBoth ? InstructionSet::kI8mmBf16 : InstructionSet::kDotprod;
  }
#endif
  return InstructionSet::kBaseline;
}

InstructionSet of_environment() {
  const char* const name = std::getenv(kVariable);
  if (name == nullptr || *name == '\0') {
    return kWidest;
  }
  const auto* const found = std::find_if(std::begin(kNames), std::end(kNames),
                                         [&](const char* each) { return std::strcmp(each, name) == 0; });
  ET_CHECK_MSG(found != std::end(kNames), "%s is \"%s\": set it to " NAMES_AS_TEXT ", or unset it", kVariable, name);
  return static_cast<InstructionSet>(found - std::begin(kNames));
}

}  // namespace

bool has_instruction_set(InstructionSet instruction_set) {
  static const InstructionSet widest = std::min(of_processor(), of_environment());
  return instruction_set <= widest;
}

void require_instruction_set(InstructionSet instruction_set) {
  if (instruction_set > of_processor()) {
    ET_LOG(Fatal,
           "the kernels of this program are compiled for %s, which this processor lacks. Fix: build with "
           "--@rules_executorch//rules:instruction_sets=all, or =%s at most.",
           kNames[static_cast<int>(instruction_set)], kNames[static_cast<int>(of_processor())]);
    ::executorch::runtime::runtime_abort();
  }
}

}  // namespace rules_executorch
