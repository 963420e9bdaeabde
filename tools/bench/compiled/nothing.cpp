// Times a process that has no program.
//
// nothing RUNS

#include "tools/bench/compiled/times.h"

int main(int, char** argv) {
  static const float output = 0;
  return compiled_bench::measure(argv[1], [] { return compiled_bench::Outputs{&output, 1}; });
}
