// What an image has without a model.

#include "tools/bench/devices/counter.h"

int main() {
  static float outputs[10];
  start_counter();
  report(counted_ticks(), 0, outputs, 10);
  return 0;
}
