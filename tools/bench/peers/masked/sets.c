// Prints the instruction sets that a library sees, by their names in /proc/cpuinfo.
#include <stdio.h>
#include <string.h>

#include "tools/bench/peers/masked/libsets.h"

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "--crash") == 0) {
    *(volatile int*)0 = 0;
  }
  printf("%s", has_avx2() ? "avx2 " : "");
  printf("%s", has_avx512f() ? "avx512f " : "");
  printf("%s", has_avx512_vnni() ? "avx512_vnni " : "");
  printf("%s", has_avx512_bf16() ? "avx512_bf16 " : "");
}
