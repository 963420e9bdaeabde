#pragma once

#include <cstdint>

namespace rules_executorch {

/// Sets the seed of random numbers. From now on, the first call of an operator that draws random numbers has the same
/// numbers as the first call after another set_random_seed() with this seed, and so on. The numbers do not depend on
/// the number of threads, the instruction set or the processor, except for the last digits of normal and exponential
/// numbers. Programs that run on several threads at the same time take turns in any order.
///
/// Call the function while no program runs.
void set_random_seed(uint64_t seed);

/// For kernels: the seed, and the number of calls of this function since the seed was set. Returns false if no seed was
/// set; each run of a program then draws other random numbers.
bool next_random_seed(uint64_t& seed, uint32_t& call);

}  // namespace rules_executorch
