#include "kernels/testing/thread_provider.h"

[[maybe_unused]] static const bool is_set = (rules_executorch::kernels::testing::set_thread_count(3), true);
