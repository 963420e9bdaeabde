// What the program needs of the board: to say something, to know its stack, and to end.

#pragma once

#include <cstdint>

/// Writes text to the debugger, here the emulator.
void write(const char* text);
void write(int32_t number);

/// How many bytes of the stack were in use at once so far.
int32_t used_stack();

/// Ends the program.
[[noreturn]] void end(bool succeeded);
