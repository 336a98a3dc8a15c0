// The maximum of convolutions over a word's characters.
//
// A window of a filter starts at each of the word's characters, and once more after them: that one
// sees only padding, as all further ones would. The gradient of a maximum goes to one window per
// word and filter, so the backward pass visits only these.

#include <vector>

#include "products.h"

namespace {

constexpr int64_t kGroups = 8;  // of words; their gradients are added in order, for any threads

struct Words {
    const int64_t* ids;  // (word, max_chars)
    const int64_t* lengths;  // characters that are no padding
    const float* table;  // (character, dim)
    int64_t num_words, max_chars, dim;

    // The vectors of a word's characters, as far as windows of this size can see them.
    void gather(int64_t word, int64_t width, float* chars) const {
        const int64_t end = std::min(lengths[word] + width, max_chars);
        for (int64_t c = 0; c < end; ++c) {
            std::memcpy(chars + c * dim, table + ids[word * max_chars + c] * dim,
                        dim * sizeof(float));
        }
    }

    int64_t windows(int64_t word, int64_t width) const {
        return std::min(lengths[word], max_chars - width) + 1;
    }
};

// The largest score in each column of a panel, and the first window that has it.
void best_window(const float* chars, int64_t dim, int64_t windows, const float* panel,
                 int64_t size, int64_t columns, float* best, int32_t* where) {
    float scores[kRows * kPanel], top[kPanel];
    int32_t first[kPanel];
    for (int64_t start = 0; start < windows; start += kRows) {
        const int64_t rows = std::min(kRows, windows - start);
        tiles<kRows, false>(rows, chars + start * dim, dim, panel, size, Start::kZero, nullptr,
                            scores, kPanel, kPanel);
        for (int64_t row = 0; row < rows; ++row) {
            const float* score = scores + row * kPanel;
            const int32_t window = static_cast<int32_t>(start + row);
            for (int64_t k = 0; k < kPanel; ++k) {
                // NaN is larger than all, so that a training run notices it.
                const bool larger = window == 0 || !(score[k] <= top[k]);
                top[k] = larger ? score[k] : top[k];
                first[k] = larger ? window : first[k];
            }
        }
    }
    std::memcpy(best, top, columns * sizeof(float));
    std::memcpy(where, first, columns * sizeof(int32_t));
}

}  // namespace

extern "C" {

// best and where (word, filter) of all kernels, one after the other; kernel n is packed and has
// `filters[n]` columns and `widths[n]` characters.
void convolve(const int64_t* ids, const int64_t* lengths, const float* table, int64_t num_words,
              int64_t max_chars, int64_t dim, const float* const* kernels, const int64_t* widths,
              const int64_t* filters, int64_t num_kernels, float* best, int32_t* where,
              int64_t threads) {
    const Words words{ids, lengths, table, num_words, max_chars, dim};
    int64_t total = 0, widest = 0;
    for (int64_t n = 0; n < num_kernels; ++n) {
        total += filters[n];
        widest = std::max(widest, widths[n]);
    }
    constexpr int64_t kTogether = 16;  // words that use a panel while it is in the cache
    parallel(threads, (num_words + kTogether - 1) / kTogether, [&](int64_t task) {
        const int64_t first = task * kTogether, last = std::min(num_words, first + kTogether);
        std::vector<float> chars(kTogether * max_chars * dim);
        for (int64_t word = first; word < last; ++word) {
            words.gather(word, widest, chars.data() + (word - first) * max_chars * dim);
        }
        for (int64_t n = 0, offset = 0; n < num_kernels; offset += filters[n++]) {
            const int64_t size = widths[n] * dim;
            for (int64_t column = 0; column < filters[n]; column += kPanel) {
                for (int64_t word = first; word < last; ++word) {
                    const int64_t place = word * total + offset + column;
                    best_window(chars.data() + (word - first) * max_chars * dim, dim,
                                words.windows(word, widths[n]), kernels[n] + column * size, size,
                                std::min(kPanel, filters[n] - column), best + place, where + place);
                }
            }
        }
    });
}

// Gradients of the table and of all kernels (filter, size; one after the other), for the windows
// that `convolve` chose. The buffer holds kGroups times both.
void convolve_backward(const int64_t* ids, const int64_t* lengths, const float* table,
                       int64_t num_words, int64_t max_chars, int64_t dim, const float* kernels,
                       const int64_t* widths, const int64_t* filters, int64_t num_kernels,
                       const float* d_best, const int32_t* where, int64_t table_size,
                       int64_t kernels_size, float* buffer, float* gradient, int64_t threads) {
    const Words words{ids, lengths, table, num_words, max_chars, dim};
    const int64_t size_of_all = table_size + kernels_size;
    int64_t total = 0, widest = 0;
    for (int64_t n = 0; n < num_kernels; ++n) {
        total += filters[n];
        widest = std::max(widest, widths[n]);
    }
    parallel(threads, kGroups, [&](int64_t group) {
        float* d_table = buffer + group * size_of_all;
        std::fill(d_table, d_table + size_of_all, 0.0f);
        std::vector<float> chars(max_chars * dim), d_chars(max_chars * dim);
        for (int64_t word = group; word < num_words; word += kGroups) {
            words.gather(word, widest, chars.data());
            std::fill(d_chars.begin(), d_chars.end(), 0.0f);
            const float* weight = kernels;
            float* d_weight = d_table + table_size;
            int64_t place = word * total;
            for (int64_t n = 0; n < num_kernels; ++n) {
                const int64_t size = widths[n] * dim;
                for (int64_t filter = 0; filter < filters[n];
                     ++filter, ++place, weight += size, d_weight += size) {
                    const float d = d_best[place];
                    if (d == 0.0f) continue;  // about half of them after a relu
                    const float* window = chars.data() + where[place] * dim;
                    float* d_window = d_chars.data() + where[place] * dim;
#pragma omp simd
                    for (int64_t k = 0; k < size; ++k) {
                        d_weight[k] += d * window[k];
                        d_window[k] += d * weight[k];
                    }
                }
            }
            const int64_t end = std::min(lengths[word] + widest, max_chars);
            for (int64_t c = 0; c < end; ++c) {
                float* to = d_table + ids[word * max_chars + c] * dim;
                for (int64_t k = 0; k < dim; ++k) to[k] += d_chars[c * dim + k];
            }
        }
    });
    constexpr int64_t kSlice = 4096;
    parallel(threads, (size_of_all + kSlice - 1) / kSlice, [&](int64_t task) {
        const int64_t end = std::min(size_of_all, (task + 1) * kSlice);
        for (int64_t k = task * kSlice; k < end; ++k) {
            float sum = 0.0f;
            for (int64_t group = 0; group < kGroups; ++group) sum += buffer[group * size_of_all + k];
            gradient[k] = sum;
        }
    });
}

int64_t convolution_groups() { return kGroups; }
}
