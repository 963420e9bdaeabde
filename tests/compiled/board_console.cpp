#include "examples/microcontroller/board.h"
#include "runtime/compiled/console.h"

namespace compiled_program {

void write_to_console(const char* text) { write(text); }

}  // namespace compiled_program

namespace executorch::runtime {

[[noreturn]] void runtime_abort() {
  write("abort\n");
  end(false);
}

}  // namespace executorch::runtime
