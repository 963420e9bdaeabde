#include "examples/microcontroller/board.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

// Of image.ld.
extern "C" {
extern uint32_t data_begin[], data_end[], bss_begin[], bss_end[], stack_top[];
extern const uint32_t data_in_flash[];
extern void (*const init_array_begin[])();
extern void (*const init_array_end[])();
}

int main();

namespace {

constexpr uint32_t kUnused = 0xA5A5A5A5;

// Arm's semihosting: the debugger sees the instruction, and the registers say what to do.
enum class Operation : uint32_t { kWrite = 0x04, kExit = 0x18 };
constexpr uint32_t kApplicationExit = 0x20026, kRunTimeError = 0x20023;

void ask_debugger(Operation operation, uintptr_t argument) {
  register uint32_t r0 asm("r0") = static_cast<uint32_t>(operation);
  register uintptr_t r1 asm("r1") = argument;
  asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

}  // namespace

extern "C" [[noreturn, gnu::used]] void reset() {
  // The floating-point unit is off after a reset.
  auto* const coprocessor_access = reinterpret_cast<volatile uint32_t*>(0xE000ED88);
  *coprocessor_access = *coprocessor_access | (0xFu << 20);
  asm volatile("dsb\n isb");

  std::copy_n(data_in_flash, data_end - data_begin, data_begin);
  std::fill(bss_begin, bss_end, 0u);
  // Less what this call itself may take.
  uint32_t* stack;
  asm volatile("mov %0, sp" : "=r"(stack));
  std::fill(bss_end, stack - 16, kUnused);
  for (auto* function = init_array_begin; function != init_array_end; ++function) {
    (*function)();
  }
  end(main() == 0);
}

namespace {

[[noreturn]] void fault() {
  write("fault\n");
  end(false);
}

// The stack, the entry, and what handles the 14 exceptions of the processor.
[[gnu::section(".vectors"), gnu::used]] const void* const kVectors[16] = {
    stack_top,
    reinterpret_cast<const void*>(reset),
    reinterpret_cast<const void*>(fault),
    reinterpret_cast<const void*>(fault),
    reinterpret_cast<const void*>(fault),
    reinterpret_cast<const void*>(fault),
    reinterpret_cast<const void*>(fault),
};

}  // namespace

// Of objects with virtual destructors. Nothing is allocated, so nothing calls it.
void operator delete(void*) noexcept { end(false); }
void operator delete(void*, size_t) noexcept { end(false); }

void write(const char* text) { ask_debugger(Operation::kWrite, reinterpret_cast<uintptr_t>(text)); }

void write(int32_t number) {
  char digits[12];
  char* first = std::end(digits);
  *--first = '\0';
  for (uint32_t rest = number < 0 ? -number : number;; rest /= 10) {
    *--first = static_cast<char>('0' + rest % 10);
    if (rest < 10) {
      break;
    }
  }
  write(number < 0 ? "-" : "");
  write(first);
}

int32_t used_stack() {
  const uint32_t* const lowest = std::find_if(bss_end, stack_top, [](uint32_t word) { return word != kUnused; });
  return static_cast<int32_t>((stack_top - lowest) * sizeof(uint32_t));
}

void end(bool succeeded) {
  ask_debugger(Operation::kExit, succeeded ? kApplicationExit : kRunTimeError);
  while (true) {
  }
}
