#pragma once

#include <cstdint>

/// Starts the count of instructions.
void start_counter();

/// The ticks since start_counter(). The emulator runs with `-icount shift=0`, so that an instruction takes a
/// nanosecond, and the timer of the board mps2-an500 counts 25 MHz: a tick is 40 instructions.
uint32_t counted_ticks();

/// Writes the results of a measurement as a line of JSON.
void report(uint32_t ticks, uint32_t memory, const float* outputs, int count);
