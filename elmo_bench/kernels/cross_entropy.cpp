// The loss of a linear layer followed by a softmax, without copies of the logits.

#include <cmath>
#include <vector>

#include "cells.h"
#include "products.h"

namespace {

// Turns a row of logits into probabilities in place; returns the logarithm of their sum of exp.
float softmax(float* logits, int64_t count) {
    float top = logits[0];
#pragma omp simd reduction(max : top)
    for (int64_t k = 0; k < count; ++k) top = logits[k] > top ? logits[k] : top;
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < count; ++k) {
        logits[k] = exponential(logits[k] - top);
        sum += logits[k];
    }
    const float factor = 1.0f / sum;
#pragma omp simd
    for (int64_t k = 0; k < count; ++k) logits[k] *= factor;
    return top + std::log(sum);
}

}  // namespace

extern "C" {

// The losses of all rows, for logits = hidden (rows, depth) x weight (packed) + bias. The
// derivatives of a row's loss by its logits stay in `slopes` (rows, columns); if that is null,
// only the losses are computed.
void cross_entropy(const float* hidden, int64_t rows, int64_t depth, const float* packed,
                   const float* bias, const int64_t* targets, float* losses, float* slopes,
                   int64_t columns, int64_t threads) {
    constexpr int64_t kTogether = 4 * kRows;
    parallel(threads, (rows + kTogether - 1) / kTogether, [&](int64_t task) {
        const int64_t first = task * kTogether, count = std::min(kTogether, rows - first);
        std::vector<float> beside(slopes ? 0 : count * columns);
        float* logits = slopes ? slopes + first * columns : beside.data();
        multiply(hidden + first * depth, depth, count, depth, packed, Start::kColumn, bias, logits,
                 columns, columns);
        for (int64_t row = 0; row < count; ++row, logits += columns) {
            const int64_t target = targets[first + row];
            const float score = logits[target];
            losses[first + row] = softmax(logits, columns) - score;
            logits[target] -= 1.0f;
        }
    });
}
}
