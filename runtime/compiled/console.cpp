#include "runtime/compiled/console.h"

#include <cstdio>

namespace compiled_program {

void write_to_console(const char* text) { std::fputs(text, stdout); }

}  // namespace compiled_program
