#include "tools/bench/devices/counter.h"

#include "examples/microcontroller/board.h"

namespace {

// The processor's timer counts down from a value of 24 bits, and says whether it passed zero.
struct Timer {
  volatile uint32_t control, reload, value, calibration;
};

Timer& timer() { return *reinterpret_cast<Timer*>(0xE000E010); }

constexpr uint32_t kEnabled = 1, kProcessorClock = 4, kPassedZero = 1 << 16, kMost = 0xFFFFFF;

void write_field(const char* name, int32_t number) {
  write("\"");
  write(name);
  write("\": ");
  write(number);
}

}  // namespace

void start_counter() {
  timer().reload = kMost;
  timer().value = 0;
  timer().control = kEnabled | kProcessorClock;
  while (timer().value == 0) {
  }
  // Reading clears that the timer passed zero.
  static_cast<void>(timer().control);
}

uint32_t counted_ticks() {
  const uint32_t control = timer().control;
  const uint32_t left = timer().value;
  timer().control = 0;
  return ((control & kPassedZero) != 0 ? kMost + 1 : 0) + (kMost - left);
}

void report(uint32_t ticks, uint32_t memory, const float* outputs, int count) {
  const int32_t stack = used_stack();
  write("{");
  write_field("ticks", static_cast<int32_t>(ticks));
  write(", ");
  write_field("memory", static_cast<int32_t>(memory));
  write(", ");
  write_field("stack", stack);
  write(", \"millionths\": [");
  for (int i = 0; i < count; ++i) {
    write(i == 0 ? "" : ", ");
    write(static_cast<int32_t>(outputs[i] * 1e6f));
  }
  write("]}\n");
}
