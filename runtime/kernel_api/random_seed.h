#pragma once

#include <cstdint>

namespace rules_executorch {

// A binary that links `//runtime:random_seed` has these functions. In other binaries, they are null, because the
// references are weak, and each run of a program draws other random numbers.

/// Sets the seed of random numbers. From now on, the first call of an operator that draws random numbers has the same
/// numbers as the first call after another set_random_seed() with this seed, and so on. The numbers do not depend on
/// the number of threads, the instruction set or the processor, except for the last digits of normal and exponential
/// numbers. Programs that run on several threads at the same time take turns in any order.
///
/// Call the function while no program runs.
[[gnu::weak]] void set_random_seed(uint64_t seed);

/// For kernels: the seed, and the number of calls of this function since the seed was set. Returns false if no seed was
/// set.
[[gnu::weak]] bool next_random_seed(uint64_t& seed, uint32_t& call);

}  // namespace rules_executorch
