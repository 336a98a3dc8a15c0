// The elementwise part of a clipped LSTM cell, forward and backward, in single precision.
//
// gates holds four blocks of `hidden` values per row: input i, candidate j, forget f, output o.
//   c = clip(sigmoid(f) * previous + sigmoid(i) * tanh(j)),  out = sigmoid(o) * tanh(c)
// The loops are plain so that the compiler can vectorize them; exp is our own because calls to libm
// would prevent that. NaN stays NaN throughout, so that a training run notices it.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

// exp(x) = 2^n * exp(r), |r| <= ln(2)/2; the polynomial is the series of exp, degree 7.
inline float exponential(float x) {
    x = x < -87.0f ? -87.0f : x;
    x = x > 88.0f ? 88.0f : x;
    const float shifter = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
    const float shifted = x * 1.44269504088896341f + shifter;
    const float n = shifted - shifter;
    float r = x - n * 0.693145751953125f;  // ln(2) in two parts, for the low bits of r
    r = r - n * 1.42860682030941723e-6f;
    float p = 1.9841270e-4f;
    p = p * r + 1.3888889e-3f;
    p = p * r + 8.3333333e-3f;
    p = p * r + 4.1666668e-2f;
    p = p * r + 1.6666667e-1f;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    int32_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = static_cast<int32_t>(static_cast<uint32_t>(bits) << 23) + 0x3f800000;
    float power;
    std::memcpy(&power, &bits, sizeof power);
    return p * power;
}

inline float sigmoid(float x) { return 1.0f / (1.0f + exponential(-x)); }

inline float tangent(float x) { return 1.0f - 2.0f / (1.0f + exponential(2.0f * x)); }

void forward_row(float* gates, const float* bias, const float* previous, float* cell, float* out,
                 int64_t hidden, float clip) {
    float* i_gate = gates;
    float* j_gate = gates + hidden;
    float* f_gate = gates + 2 * hidden;
    float* o_gate = gates + 3 * hidden;
#pragma omp simd
    for (int64_t k = 0; k < hidden; ++k) {
        const float i = sigmoid(i_gate[k] + bias[k]);
        const float j = tangent(j_gate[k] + bias[k + hidden]);
        const float f = sigmoid(f_gate[k] + bias[k + 2 * hidden]);
        const float o = sigmoid(o_gate[k] + bias[k + 3 * hidden]);
        float c = f * previous[k] + i * j;
        c = c > clip ? clip : c;
        c = c < -clip ? -clip : c;
        i_gate[k] = i;
        j_gate[k] = j;
        f_gate[k] = f;
        o_gate[k] = o;
        cell[k] = c;
        out[k] = o * tangent(c);
    }
}

void backward_row(float* gates, const float* previous, const float* cell, const float* d_out,
                  float* d_cell, int64_t hidden, float clip) {
    float* i_gate = gates;
    float* j_gate = gates + hidden;
    float* f_gate = gates + 2 * hidden;
    float* o_gate = gates + 3 * hidden;
#pragma omp simd
    for (int64_t k = 0; k < hidden; ++k) {
        const float i = i_gate[k], j = j_gate[k], f = f_gate[k], o = o_gate[k];
        const float t = tangent(cell[k]);
        float d = d_cell[k] + d_out[k] * o * (1.0f - t * t);
        d = std::fabs(cell[k]) >= clip ? 0.0f : d;
        i_gate[k] = d * j * i * (1.0f - i);
        j_gate[k] = d * i * (1.0f - j * j);
        f_gate[k] = d * previous[k] * f * (1.0f - f);
        o_gate[k] = d_out[k] * t * o * (1.0f - o);
        d_cell[k] = d * f;
    }
}

}  // namespace

extern "C" {

// Adds the bias to the gates and turns them into their activations in place; cell and previous may
// share memory.
void cell_forward(float* gates, const float* bias, const float* previous, float* cell, float* out,
                  int64_t rows, int64_t hidden, float clip, int threads) {
#pragma omp parallel for num_threads(threads) if (threads > 1 && rows * hidden >= 8192)
    for (int64_t row = 0; row < rows; ++row) {
        forward_row(gates + 4 * hidden * row, bias, previous + hidden * row, cell + hidden * row,
                    out + hidden * row, hidden, clip);
    }
}

// Turns the activations from cell_forward into the gradients of the gates in place; d_cell holds
// the gradient of cell on entry and that of previous on return.
void cell_backward(float* gates, const float* previous, const float* cell, const float* d_out,
                   float* d_cell, int64_t rows, int64_t hidden, float clip, int threads) {
#pragma omp parallel for num_threads(threads) if (threads > 1 && rows * hidden >= 8192)
    for (int64_t row = 0; row < rows; ++row) {
        backward_row(gates + 4 * hidden * row, previous + hidden * row, cell + hidden * row,
                     d_out + hidden * row, d_cell + hidden * row, hidden, clip);
    }
}

// The largest score of each word and filter, and the first window that has it.
void window_max(const float* scores, float* best, int32_t* where, int64_t words, int64_t windows,
                int64_t filters) {
    for (int64_t word = 0; word < words; ++word) {
        const float* score = scores + word * windows * filters;
        float* top = best + word * filters;
        int32_t* first = where + word * filters;
        for (int64_t k = 0; k < filters; ++k) {
            top[k] = score[k];
            first[k] = 0;
        }
        for (int32_t window = 1; window < windows; ++window) {
            score += filters;
            for (int64_t k = 0; k < filters; ++k) {
                const bool larger = score[k] > top[k];
                top[k] = larger ? score[k] : top[k];
                first[k] = larger ? window : first[k];
            }
        }
    }
}

// Adds to the gradients of chars (words, row) and kernel (filters, size); only the windows chosen by
// window_max contribute. A window starts `where * dim` into the row and is `size` long.
void window_max_backward(const float* d_best, const int32_t* where, const float* chars,
                         const float* kernel, float* d_chars, float* d_kernel, int64_t words,
                         int64_t filters, int64_t row, int64_t dim, int64_t size) {
    for (int64_t word = 0; word < words; ++word) {
        for (int64_t filter = 0; filter < filters; ++filter) {
            const float d = d_best[word * filters + filter];
            if (d == 0.0f) continue;  // about half of them after a relu
            const int64_t start = word * row + where[word * filters + filter] * dim;
            const float* window = chars + start;
            const float* weight = kernel + filter * size;
            float* d_window = d_chars + start;
            float* d_weight = d_kernel + filter * size;
#pragma omp simd
            for (int64_t k = 0; k < size; ++k) {
                d_weight[k] += d * window[k];
                d_window[k] += d * weight[k];
            }
        }
    }
}

// Returns 0 if this machine can run the code and the result agrees with libm.
int self_check() {
    const int64_t hidden = 67, rows = 3;
    std::vector<float> gates(4 * hidden * rows), previous(hidden * rows), cell(hidden * rows),
        out(hidden * rows);
    for (size_t k = 0; k < gates.size(); ++k) gates[k] = 12.0f * std::sin(0.7f * k);
    for (size_t k = 0; k < previous.size(); ++k) previous[k] = 2.9f * std::cos(1.3f * k);
    const std::vector<float> bias(4 * hidden, 0.25f);
    std::vector<float> raw = gates;
    for (float& value : raw) value += 0.25f;
    cell_forward(gates.data(), bias.data(), previous.data(), cell.data(), out.data(), rows, hidden,
                 3.0f, 2);
    for (int64_t row = 0; row < rows; ++row) {
        for (int64_t k = 0; k < hidden; ++k) {
            const float* z = raw.data() + 4 * hidden * row + k;
            auto s = [](double x) { return 1.0 / (1.0 + std::exp(-x)); };
            double c = s(z[2 * hidden]) * previous[row * hidden + k] + s(z[0]) * std::tanh(z[hidden]);
            c = c > 3.0 ? 3.0 : (c < -3.0 ? -3.0 : c);
            const double expected = s(z[3 * hidden]) * std::tanh(c);
            if (!(std::fabs(out[row * hidden + k] - expected) < 2e-6)) return 1;
        }
    }
    return 0;
}
}
