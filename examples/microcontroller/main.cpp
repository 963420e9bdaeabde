#include "examples/compiled/classifier_compiled.h"
#include "examples/microcontroller/board.h"

// All memory that the program needs: with optimize=size, no scratch memory.
static classifier_compiled::Forward::Memory memory;
static_assert(classifier_compiled::Forward::kScratchBytes == 0);

int main() {
  classifier_compiled::Forward classifier(memory, nullptr, 0);
  for (int i = 0; i < 28 * 28; ++i) {
    classifier.input0()[i] = 1;
  }
  if (!classifier.run().ok()) {
    return 1;
  }
  // In thousandths, since the board writes integers only.
  for (int i = 0; i < 10; ++i) {
    write(static_cast<int32_t>(classifier.output0()[i] * 1000));
    write("\n");
  }
  return 0;
}
