// Executes three instructions as many times as the argument says.

#include <cstdlib>

int main(int argc, char** argv) {
  long count = argc == 2 ? std::strtol(argv[1], nullptr, 10) : 0;
  if (count <= 0) {
    return 1;
  }
  asm volatile("1: subs %0, %0, #1\n nop\n b.ne 1b" : "+r"(count) : : "cc");
  return 0;
}
