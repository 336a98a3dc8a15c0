// Packing and products for the layers that are no recurrence.

#include "products.h"

extern "C" {

int64_t packed_size(int64_t depth, int64_t columns) { return depth * panels(columns) * kPanel; }

// Rows of gates that every part of a layer needs beside those of one step.
int64_t block_rows() { return kBlock; }

// Packs a matrix (depth, columns), or one whose transpose that is.
void pack_matrix(const float* source, int64_t is_transposed, int64_t depth, int64_t columns,
                 float* packed, int64_t threads) {
    const Matrix matrix = is_transposed ? transposed(source, depth) : row_major(source, columns);
    const int64_t count = panels(columns), step = std::max<int64_t>(1, (count + 7) / 8);
    parallel(depth * columns < 65536 ? 1 : threads, (count + step - 1) / step, [&](int64_t task) {
        pack(matrix, depth, columns, task * step, std::min(count, (task + 1) * step), packed);
    });
}

// result (rows, columns) = left (rows, depth) x right (packed) + bias, which may be null.
void product(const float* left, int64_t rows, int64_t depth, const float* packed,
             const float* bias, float* result, int64_t columns, int64_t threads) {
    const int64_t step = std::min(kBlock, (rows / threads + kRows) / kRows * kRows);
    parallel(threads, (rows + step - 1) / step, [&](int64_t task) {
        const int64_t row = task * step;
        multiply(left + row * depth, depth, std::min(step, rows - row), depth, packed,
                 bias ? Start::kColumn : Start::kZero, bias, result + row * columns, columns,
                 columns);
    });
}

// result (rows, columns) = left^T x right, for left (depth, rows) and right (depth, columns, packed);
// and the weighted sums of left's columns, if `sums` is not null.
void transposed_product(const float* left, int64_t rows, int64_t depth, const float* packed,
                        float* result, int64_t columns, const float* weights, float* sums,
                        int64_t threads) {
    const Right right{packed, columns, result};
    const int64_t step = std::min(kBlock, (rows / threads + kRows) / kRows * kRows);
    parallel(threads, (rows + step - 1) / step, [&](int64_t task) {
        multiply_transposed(left, rows, depth, task * step, std::min(rows, (task + 1) * step),
                            &right, 1, weights, sums);
    });
}
}
