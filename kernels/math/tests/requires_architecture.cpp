// Ends a test, as passed, on a processor without the instructions that the test is compiled for. The constructor below
// runs before the initializers of the test and is compiled for the baseline, because the compiler may use the
// instructions in an initializer, and in each function of the standard library that the test instantiates.

#include <unistd.h>

namespace {

__attribute__((constructor(101))) void require_architecture() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports(ARCHITECTURE)) {
    constexpr char kMessage[] = "skipped: the processor lacks instructions of " ARCHITECTURE "\n";
    _exit(write(STDOUT_FILENO, kMessage, sizeof(kMessage) - 1) < 0);
  }
}

}  // namespace
