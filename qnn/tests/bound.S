// A constant in assembly that every assembler knows, through the preprocessor.
#define BOUND 0

.section .rodata
.balign 4
.globl my_relu_bound
.hidden my_relu_bound
.size my_relu_bound, 4
my_relu_bound:
  .long BOUND

.section .note.GNU-stack, "", %progbits
