#include "tools/bench/peers/masked/libsets.h"

#include <cpuid.h>
#include <stdint.h>

// Set before main(), as the kernels of many libraries are chosen.
static uint32_t ebx, ecx, eax_of_1;

__attribute__((constructor)) static void ask(void) {
  uint32_t eax, edx;
  __cpuid_count(7, 0, eax, ebx, ecx, edx);
  uint32_t rest[3];
  __cpuid_count(7, 1, eax_of_1, rest[0], rest[1], rest[2]);
}

int has_avx2(void) {
  return ebx >> 5 & 1;
}

int has_avx512f(void) {
  return ebx >> 16 & 1;
}

int has_avx512_vnni(void) {
  return ecx >> 11 & 1;
}

int has_avx512_bf16(void) {
  return eax_of_1 >> 5 & 1;
}
