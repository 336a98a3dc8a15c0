// A linear layer on the products of pairs of vectors: of vectors i and j, weight x (vector i * vector
// j). The products are computed block by block where they are used, and never stored.

#include <vector>

#include "products.h"

namespace {

// Vectors (item, dim) and the two numbers of each pair.
struct PairsOf {
    const float* vectors;
    int64_t dim;
    const int64_t* left;
    const int64_t* right;

    const float* first(int64_t pair) const { return vectors + left[pair] * dim; }
    const float* second(int64_t pair) const { return vectors + right[pair] * dim; }
};

// Columns `column` to `column` + `count` of the products of a pair.
inline void multiply_pair(const PairsOf& pairs, int64_t pair, int64_t column, int64_t count,
                          float* result) {
    const float *a = pairs.first(pair) + column, *b = pairs.second(pair) + column;
#pragma omp simd
    for (int64_t k = 0; k < count; ++k) result[k] = a[k] * b[k];
}

}  // namespace

extern "C" {

// result (num_pairs, columns) += products (num_pairs, dim) x weight (dim, columns; packed).
void pair_products(const float* vectors, int64_t dim, const int64_t* left, const int64_t* right,
                   int64_t num_pairs, const float* packed, float* result, int64_t columns,
                   int64_t threads) {
    const PairsOf pairs{vectors, dim, left, right};
    parallel(threads, (num_pairs + kBlock - 1) / kBlock, [&](int64_t task) {
        float products[kBlock * kDepth];
        const int64_t first = task * kBlock, rows = std::min(kBlock, num_pairs - first);
        for (int64_t column = 0; column < dim; column += kDepth) {
            const int64_t depth = std::min(kDepth, dim - column);
            for (int64_t row = 0; row < rows; ++row) {
                multiply_pair(pairs, first + row, column, depth, products + row * depth);
            }
            multiply_block<false>(products, depth, rows, packed, dim, column, depth, Start::kOld,
                                  nullptr, result + first * columns, columns, columns);
        }
    });
}

// From the gradient (num_pairs, rows) of that result: d_weight (rows, dim) is written, and what
// reaches the vectors is added to d_vectors. `packed` is the weight (rows, dim). Each thread has
// columns of its own, so that every sum is added up in the order of the pairs.
void pair_products_backward(const float* vectors, int64_t dim, const int64_t* left,
                            const int64_t* right, int64_t num_pairs, const float* gradient,
                            int64_t rows, const float* packed, float* d_weight, float* d_vectors,
                            int64_t threads) {
    constexpr int64_t kColumns = 4 * kPanel;
    const PairsOf pairs{vectors, dim, left, right};
    parallel(threads, (dim + kColumns - 1) / kColumns, [&](int64_t task) {
        const int64_t column = task * kColumns, columns = std::min(kColumns, dim - column);
        std::vector<float> products(kBlock * kColumns), slopes(kBlock * kColumns);
        float interleaved[kBlock * kBlock];
        for (int64_t first = 0; first < num_pairs; first += kBlock) {
            const int64_t count = std::min(kBlock, num_pairs - first);
            // The products as the packed right side of gradient^T x products.
            for (int64_t k = 0; k < count; ++k) {
                for (int64_t start = 0; start < columns; start += kPanel) {
                    const int64_t width = std::min(kPanel, columns - start);
                    float* to = products.data() + start * count + k * kPanel;
                    multiply_pair(pairs, first + k, column + start, width, to);
                    std::fill(to + width, to + kPanel, 0.0f);
                }
            }
            const float* block = gradient + first * rows;
            for (int64_t row = 0; row < rows; row += kBlock) {
                const int64_t height = std::min(kBlock, rows - row);
                interleave(block + row, rows, count, height, interleaved);
                multiply_block<true>(interleaved, 0, height, products.data(), count, 0, count,
                                     first ? Start::kOld : Start::kZero, nullptr,
                                     d_weight + row * dim + column, dim, columns);
            }
            multiply(block, rows, count, rows, packed + column * rows, Start::kZero, nullptr,
                     slopes.data(), columns, columns);
            for (int64_t k = 0; k < count; ++k) {
                const float *a = pairs.first(first + k) + column, *slope = &slopes[k * columns];
                const float* b = pairs.second(first + k) + column;
                float* d_a = d_vectors + left[first + k] * dim + column;
                float* d_b = d_vectors + right[first + k] * dim + column;
                for (int64_t n = 0; n < columns; ++n) d_a[n] += slope[n] * b[n];
                for (int64_t n = 0; n < columns; ++n) d_b[n] += slope[n] * a[n];
            }
        }
    });
}
}
