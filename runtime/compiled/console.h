#pragma once

namespace compiled_program {

/// Writes a text. A test links one definition: `//runtime/compiled:console` writes to the standard output. A board
/// without an operating system has a definition of its own.
void write_to_console(const char* text);

}  // namespace compiled_program
