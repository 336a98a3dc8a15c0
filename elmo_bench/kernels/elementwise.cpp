// Elementwise functions. PyTorch's own compute the last values of a tensor in another way than the
// others, so that a word's vector would depend on its place in the batch.

#include "cells.h"
#include "threads.h"

namespace {

// Calls run(first, last) for all slices of a tensor.
template <class Run>
void in_slices(int64_t count, int64_t threads, const Run& run) {
    constexpr int64_t kSlice = 1 << 14;
    parallel(threads, (count + kSlice - 1) / kSlice, [&](int64_t task) {
        run(task * kSlice, std::min(count, (task + 1) * kSlice));
    });
}

}  // namespace

extern "C" {

// result = inputs + sigmoid(carry) * (max(transform, 0) - inputs)
void highway(const float* carry, const float* transform, const float* inputs, float* result,
             int64_t count, int64_t threads) {
    in_slices(count, threads, [&](int64_t first, int64_t last) {
#pragma omp simd
        for (int64_t k = first; k < last; ++k) {
            const float raised = transform[k] < 0.0f ? 0.0f : transform[k];
            result[k] = inputs[k] + sigmoid(carry[k]) * (raised - inputs[k]);
        }
    });
}

void hyperbolic_tangent(const float* inputs, float* result, int64_t count, int64_t threads) {
    in_slices(count, threads, [&](int64_t first, int64_t last) {
#pragma omp simd
        for (int64_t k = first; k < last; ++k) result[k] = tangent(inputs[k]);
    });
}

// Dropout of `values`: they count, times `scale`, where at least `least` was drawn and the input is
// not below `bound`; all other results are 0. NaN is below nothing.
void dropout(const float* inputs, const float* values, const uint16_t* drawn, float* result,
             int64_t least, int64_t count, int64_t threads, float bound, float scale) {
    const int32_t lowest = static_cast<int32_t>(least);
    in_slices(count, threads, [=](int64_t first, int64_t last) {
#pragma omp simd
        for (int64_t k = first; k < last; ++k) {
            const float value = inputs[k] < bound ? 0.0f : values[k] * scale;
            result[k] = drawn[k] < lowest ? 0.0f : value;
        }
    });
}
}
