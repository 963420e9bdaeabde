#pragma once

#include "kernels/reduce/normalize.h"

namespace rules_executorch::kernels {

/// Computes a normalization of [N, groups, channels of a group, ...] whose channels are adjacent in memory, in whole
/// rows of channels. Returns false and computes nothing if the input or the output has another layout, or if a group
/// has more than kBlockSize channels: `normalize` then has rows of this length.
template <typename T>
bool normalize_channels_last(const Normalization& normalization);

extern template bool normalize_channels_last<float>(const Normalization& normalization);
extern template bool normalize_channels_last<double>(const Normalization& normalization);

}  // namespace rules_executorch::kernels
