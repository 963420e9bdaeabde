#pragma once

#include <cstddef>
#include <cstdint>

// The functions that the Python module of an executorch_python_library calls by ctypes, without the GIL. A function
// that returns a failure sets the text that rules_executorch_failure() returns to the same thread.
extern "C" {

// Sets the number of threads of this library. Call the function before the first program runs; a count of 0 stands for
// all processors. Returns 0 if the threads are not to be had.
int rules_executorch_use_threads(uint32_t count);

// Opens a program. `weights` has the paths of `count` files with the constants that the program does not have. Returns
// null on failure.
void* rules_executorch_open(const char* path, const char* const* weights, size_t count);

void rules_executorch_close(void* program);

// Runs a method. A method is loaded when it first runs, and keeps its state. One thread at a time may call a program.
//
// Args:
//   inputs: for each input in order: of a tensor, the address of its elements and its sizes; of int and bool, the
//     value; of float, its bits; of None, 0. A tensor is dense, with the dim order of the program, and stays in place.
//   outputs: receives the same for each output. The memory of the elements belongs to the program, and is overwritten
//     by the next run.
// Returns 0 on failure.
int rules_executorch_run(void* program, const char* method, const int64_t* inputs, int64_t* outputs);

const char* rules_executorch_failure();

}  // extern "C"
