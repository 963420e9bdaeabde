// Emulates the `cpuid` instructions that masked.py replaced, and hides the instruction sets wider than
// EXECUTORCH_INSTRUCTION_SET. LD_PRELOAD loads this library. The bits are those of Intel's Software Developer's Manual,
// volume 2, CPUID, and of AMD's Programmer's Manual, volume 3, appendix E.
#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#define BIT(n) (UINT32_C(1) << (n))

typedef struct {
  uint32_t eax, ebx, ecx, edx;
} Registers;

// AVX-512: what processors with F, BW, CD, DQ and VL only do not have. Leaf 7: IFMA, VBMI, VBMI2, GFNI, VNNI, BITALG,
// VPOPCNTDQ, VP2INTERSECT, FP16; AMX. Leaf 7, subleaf 1: AVX-VNNI, BF16, AMX-FP16, AVX-IFMA; all of EDX, with AVX10.
static const Registers kExtensions7 = {
    0,
    BIT(21),
    BIT(1) | BIT(6) | BIT(8) | BIT(11) | BIT(12) | BIT(14),
    BIT(2) | BIT(3) | BIT(8) | BIT(22) | BIT(23) | BIT(24) | BIT(25),
};
static const Registers kExtensions7_1 = {BIT(4) | BIT(5) | BIT(21) | BIT(23), 0, 0, ~UINT32_C(0)};
// F, DQ, PF, ER, CD, BW, VL.
static const uint32_t kAvx512InEbx = BIT(16) | BIT(17) | BIT(26) | BIT(27) | BIT(28) | BIT(30) | BIT(31);
// Leaf 13: the states of the mask registers, of the registers of 512 bits, and of AMX.
static const uint32_t kAvx512States = BIT(5) | BIT(6) | BIT(7) | BIT(17) | BIT(18);

static int hides_avx512;

static void hide(Registers* found, const Registers* hidden) {
  found->eax &= ~hidden->eax;
  found->ebx &= ~hidden->ebx;
  found->ecx &= ~hidden->ecx;
  found->edx &= ~hidden->edx;
}

static Registers masked_cpuid(uint32_t leaf, uint32_t subleaf) {
  Registers found;
  __cpuid_count(leaf, subleaf, found.eax, found.ebx, found.ecx, found.edx);
  if (leaf == 7 && subleaf == 0) {
    hide(&found, &kExtensions7);
    if (hides_avx512) {
      found.ebx &= ~kAvx512InEbx;
    }
  } else if (leaf == 7 && subleaf == 1) {
    hide(&found, &kExtensions7_1);
  } else if (leaf == 13 && subleaf == 0 && hides_avx512) {
    found.eax &= ~kAvx512States;
  }
  return found;
}

// The processor refuses `clts` (0f 06) to user programs with a fault of the kind SI_KERNEL.
static void on_fault(int signal_number, siginfo_t* information, void* context) {
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  const uint8_t* instruction = (const uint8_t*)registers[REG_RIP];
  if (information->si_code != SI_KERNEL || instruction[0] != 0x0f || instruction[1] != 0x06) {
    signal(signal_number, SIG_DFL);  // The instruction faults again, and ends the process.
    return;
  }
  const Registers found = masked_cpuid((uint32_t)registers[REG_RAX], (uint32_t)registers[REG_RCX]);
  registers[REG_RAX] = found.eax;
  registers[REG_RBX] = found.ebx;
  registers[REG_RCX] = found.ecx;
  registers[REG_RDX] = found.edx;
  registers[REG_RIP] += 2;
}

// The linker option `-z initfirst` calls this function before the constructors of other libraries, which ask for the
// processor's sets. The C library is not initialized then, so that getenv() finds nothing. glibc passes the environment.
__attribute__((constructor)) static void install(int argc, char** argv, char** environment) {
  (void)argc, (void)argv;
  static const char kAvx512[] = "EXECUTORCH_INSTRUCTION_SET=avx512";
  hides_avx512 = 1;
  for (; *environment != NULL; ++environment) {
    hides_avx512 = hides_avx512 && strncmp(*environment, kAvx512, sizeof kAvx512 - 1) != 0;
  }
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, NULL);
}
