// Products of float32 matrices.
//
// Every element of a product is one sum, added up in the order of the inner dimension. So a row of
// the result depends on nothing but that row: not on the other rows, their number, or the number of
// threads.
//
// The right matrix is packed into panels of kPanel columns, padded with zeros; a panel's rows follow
// each other. A tile of kRows x kPanel sums stays in registers.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "threads.h"

namespace {

#if defined(__AVX512F__)
constexpr int64_t kLanes = 16, kRows = 8;
#elif defined(__AVX__)
constexpr int64_t kLanes = 8, kRows = 6;
#elif defined(__aarch64__)
constexpr int64_t kLanes = 4, kRows = 8;
#else
constexpr int64_t kLanes = 4, kRows = 6;
#endif
typedef float Vector __attribute__((vector_size(kLanes * sizeof(float))));

inline Vector load(const float* from) {
    Vector vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
}

constexpr int64_t kVectors = 2, kPanel = kVectors * kLanes;
constexpr int64_t kDepth = 256;  // of the inner dimension at a time: a panel's part fits in L1
constexpr int64_t kBlock = 16 * kRows;  // rows at a time: with kDepth columns they fit in L2

inline int64_t panels(int64_t columns) { return (columns + kPanel - 1) / kPanel; }

// A matrix by its element (row, column): data[row * rows + column * columns].
struct Matrix {
    const float* data;
    int64_t rows, columns;
};

inline Matrix row_major(const float* data, int64_t width) { return {data, width, 1}; }
inline Matrix transposed(const float* data, int64_t width) { return {data, 1, width}; }

// Panels `first` to `last` of a matrix (depth, columns).
inline void pack(Matrix source, int64_t depth, int64_t columns, int64_t first, int64_t last,
                 float* packed) {
    for (int64_t panel = first; panel < last; ++panel) {
        const int64_t start = panel * kPanel, width = std::min(kPanel, columns - start);
        const float* data = source.data + start * source.columns;
        float* out = packed + start * depth;
        for (int64_t k = 0; k < depth; ++k, out += kPanel) {
            const float* row = data + k * source.rows;
            if (source.columns == 1) {
                std::memcpy(out, row, width * sizeof(float));
            } else {
                for (int64_t j = 0; j < width; ++j) out[j] = row[j * source.columns];
            }
            std::fill(out + width, out + kPanel, 0.0f);
        }
    }
}

inline void pack(Matrix source, int64_t depth, int64_t columns, float* packed) {
    pack(source, depth, columns, 0, panels(columns), packed);
}

// What the sums start with: the result's old values, one value per column, or zero.
enum class Start { kOld, kColumn, kZero };

// R rows of the result, in one panel. `left` has its rows one after the other, or, if it is
// interleaved, kRows values of each column.
template <int R, bool kInterleaved>
inline void tile(const float* left, int64_t stride, const float* panel, int64_t depth, Start start,
                 const float* bias, float* result, int64_t width) {
    // Vector by vector: a copy of several would keep the sums in memory instead of registers.
    Vector sums[R][kVectors];
    for (int i = 0; i < R; ++i) {
        for (int j = 0; j < kVectors; ++j) {
            sums[i][j] = Vector{};
            if (start == Start::kOld) sums[i][j] = load(result + i * width + j * kLanes);
            if (start == Start::kColumn) sums[i][j] = load(bias + j * kLanes);
        }
    }
    for (int64_t k = 0; k < depth; ++k) {
        Vector columns[kVectors];
        for (int j = 0; j < kVectors; ++j) columns[j] = load(panel + k * kPanel + j * kLanes);
        for (int i = 0; i < R; ++i) {
            const float value = kInterleaved ? left[k * kRows + i] : left[i * stride + k];
            for (int j = 0; j < kVectors; ++j) sums[i][j] += value * columns[j];
        }
    }
    for (int i = 0; i < R; ++i) {
        for (int j = 0; j < kVectors; ++j) {
            std::memcpy(result + i * width + j * kLanes, &sums[i][j], sizeof(Vector));
        }
    }
}

// The last panel of a result can be narrower: its tile is computed beside it.
template <int R, bool kInterleaved>
inline void edge_tile(const float* left, int64_t stride, const float* panel, int64_t depth,
                      Start start, const float* bias, float* result, int64_t width,
                      int64_t columns) {
    float beside[R * kPanel] = {}, padded_bias[kPanel] = {};
    if (start == Start::kColumn) std::memcpy(padded_bias, bias, columns * sizeof(float));
    for (int i = 0; start == Start::kOld && i < R; ++i) {
        std::memcpy(beside + i * kPanel, result + i * width, columns * sizeof(float));
    }
    tile<R, kInterleaved>(left, stride, panel, depth, start, padded_bias, beside, kPanel);
    for (int i = 0; i < R; ++i) {
        std::memcpy(result + i * width, beside + i * kPanel, columns * sizeof(float));
    }
}

template <int R, bool kInterleaved>
inline void tiles(int64_t rows, const float* left, int64_t stride, const float* panel,
                  int64_t depth, Start start, const float* bias, float* result, int64_t width,
                  int64_t columns) {
    if (rows < R) {
        if constexpr (R > 1) {
            tiles<R - 1, kInterleaved>(rows, left, stride, panel, depth, start, bias, result,
                                       width, columns);
        }
    } else if (columns < kPanel) {
        edge_tile<R, kInterleaved>(left, stride, panel, depth, start, bias, result, width, columns);
    } else {
        tile<R, kInterleaved>(left, stride, panel, depth, start, bias, result, width);
    }
}

// result (rows, columns; `width` apart) = left (rows, depth) x right + start, for up to kBlock rows
// of `left` and the part of the inner dimension from `first`. `left` begins at that part.
template <bool kInterleaved>
inline void multiply_block(const float* left, int64_t stride, int64_t rows, const float* packed,
                           int64_t whole_depth, int64_t first, int64_t depth, Start start,
                           const float* bias, float* result, int64_t width, int64_t columns) {
    for (int64_t column = 0; column < columns; column += kPanel) {
        const float* panel = packed + column * whole_depth + first * kPanel;
        for (int64_t row = 0; row < rows; row += kRows) {
            const float* from = left + row * (kInterleaved ? depth : stride);
            tiles<kRows, kInterleaved>(std::min(kRows, rows - row), from, stride, panel, depth,
                                       start, bias ? bias + column : nullptr,
                                       result + row * width + column, width,
                                       std::min(kPanel, columns - column));
        }
    }
}

// result (rows, columns) = left (rows, depth) x right (packed) + start.
inline void multiply(const float* left, int64_t stride, int64_t rows, int64_t depth,
                     const float* packed, Start start, const float* bias, float* result,
                     int64_t width, int64_t columns) {
    for (int64_t row = 0; row < rows; row += kBlock) {
        for (int64_t first = 0; first < depth; first += kDepth) {
            multiply_block<false>(left + row * stride + first, stride, std::min(kBlock, rows - row),
                                  packed, depth, first, std::min(kDepth, depth - first),
                                  first ? Start::kOld : start, bias, result + row * width, width,
                                  columns);
        }
    }
}

// Copies the transpose of `left` (depth, rows; `stride` apart) for an interleaved product: kRows
// values of each of its columns follow each other.
inline void interleave(const float* left, int64_t stride, int64_t depth, int64_t rows, float* to) {
    for (int64_t k = 0; k < depth; ++k) {
        const float* row = left + k * stride;
        for (int64_t i = 0; i < rows; i += kRows) {
            float* out = to + i * depth + k * kRows;
            const int64_t size = std::min(kRows, rows - i);
            if (size == kRows) {  // a copy of known size is a single instruction
                std::memcpy(out, row + i, kRows * sizeof(float));
            } else {
                std::memcpy(out, row + i, size * sizeof(float));
            }
        }
    }
}

// Rows `first_row` to `last_row` (at most kBlock) of left^T x right, for left (depth, ...; `stride`
// apart), and for several right matrices; and the sums of left's columns, each row of left times its
// weight, or once if `weights` is null.
struct Right {
    const float* packed;
    int64_t columns;
    float* result;
};

inline void multiply_transposed(const float* left, int64_t stride, int64_t depth,
                                int64_t first_row, int64_t last_row, const Right* rights,
                                int64_t num_rights, const float* weights, float* sums) {
    float interleaved[kBlock * kDepth];
    const int64_t rows = last_row - first_row;
    for (int64_t i = 0; sums && i < rows; ++i) sums[first_row + i] = 0.0f;
    for (int64_t first = 0; first < depth; first += kDepth) {
        const int64_t part = std::min(kDepth, depth - first);
        const float* from = left + first * stride + first_row;
        interleave(from, stride, part, rows, interleaved);
        for (int64_t k = 0; sums && k < part; ++k) {
            const float weight = weights ? weights[first + k] : 1.0f;
            for (int64_t i = 0; i < rows; ++i) sums[first_row + i] += weight * from[k * stride + i];
        }
        for (int64_t r = 0; r < num_rights; ++r) {
            const Right& right = rights[r];
            multiply_block<true>(interleaved, 0, rows, right.packed, depth, first, part,
                                 first ? Start::kOld : Start::kZero, nullptr,
                                 right.result + first_row * right.columns, right.columns,
                                 right.columns);
        }
    }
}

}  // namespace
