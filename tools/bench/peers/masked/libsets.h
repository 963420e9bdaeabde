// The instruction sets that a library sees.
#ifndef RULES_EXECUTORCH_TOOLS_BENCH_PEERS_MASKED_LIBSETS_H_
#define RULES_EXECUTORCH_TOOLS_BENCH_PEERS_MASKED_LIBSETS_H_

int has_avx2(void);
int has_avx512f(void);
int has_avx512_vnni(void);
int has_avx512_bf16(void);

#endif  // RULES_EXECUTORCH_TOOLS_BENCH_PEERS_MASKED_LIBSETS_H_
