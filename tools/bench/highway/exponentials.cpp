#include "kernels/math/exponentials.h"

#include "tools/bench/highway/routines.h"

void exponentials(int64_t n, float* out, const float* in) { rules_executorch::kernels::math::exp(n, out, in); }

void silus(int64_t n, float* out, const float* in) { rules_executorch::kernels::math::silu(n, out, in); }
