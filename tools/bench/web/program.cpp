// A program with one input and one output, for JavaScript. HEADER and PROGRAM name it.
#include HEADER

using Forward = PROGRAM::Forward;

static Forward::Memory memory;
alignas(64) static unsigned char scratch[8 << 20];

static Forward& program() {
  static Forward object(memory, scratch, sizeof(scratch));
  return object;
}

[[clang::export_name("input")]] float* input() { return program().input0(); }
[[clang::export_name("run")]] unsigned run() { return program().run().error; }
[[clang::export_name("output")]] const float* output() { return program().output0(); }
