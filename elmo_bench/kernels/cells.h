// The elementwise parts of recurrent cells, forward and backward, one sequence's step at a time.
//
// A row of gates holds blocks of `units` values, the gates before their activations and without
// bias. `forward` turns them into activations in place, and fills the cell state and the output.
// `backward` turns the activations into the gradients of the gates; d_cell holds the gradient of the
// cell state on entry and that of the previous one on return. Cell states may share memory.
//
// The loops are plain so that the compiler can vectorize them; exp is our own because calls to libm
// would prevent that. NaN stays NaN throughout, so that a training run notices it.

#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

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

// The biLM's: c = clip(f * previous + i * tanh(j)), output = o * tanh(c). Blocks: i, j, f, o.
struct ClippedCell {
    static constexpr int64_t kBlocks = 4, kRecurrent = 4;

    static void forward(float* gates, const float* bias, const float* previous, float* cell,
                        float* output, int64_t units, float clip) {
#pragma omp simd
        for (int64_t k = 0; k < units; ++k) {
            const float i = sigmoid(gates[k] + bias[k]);
            const float j = tangent(gates[k + units] + bias[k + units]);
            const float f = sigmoid(gates[k + 2 * units] + bias[k + 2 * units]);
            const float o = sigmoid(gates[k + 3 * units] + bias[k + 3 * units]);
            float c = f * previous[k] + i * j;
            c = c > clip ? clip : c;
            c = c < -clip ? -clip : c;
            gates[k] = i;
            gates[k + units] = j;
            gates[k + 2 * units] = f;
            gates[k + 3 * units] = o;
            cell[k] = c;
            output[k] = o * tangent(c);
        }
    }

    static void backward(float* gates, const float* previous, const float* cell,
                         const float* d_output, float* d_cell, int64_t units, float clip) {
#pragma omp simd
        for (int64_t k = 0; k < units; ++k) {
            const float i = gates[k], j = gates[k + units];
            const float f = gates[k + 2 * units], o = gates[k + 3 * units];
            const float t = tangent(cell[k]);
            float d = d_cell[k] + d_output[k] * o * (1.0f - t * t);
            d = std::fabs(cell[k]) >= clip ? 0.0f : d;
            gates[k] = d * j * i * (1.0f - i);
            gates[k + units] = d * i * (1.0f - j * j);
            gates[k + 2 * units] = d * previous[k] * f * (1.0f - f);
            gates[k + 3 * units] = d_output[k] * t * o * (1.0f - o);
            d_cell[k] = d * f;
        }
    }
};

// He et al. (2017): c = f * previous + i * tanh(j), output = r * o * tanh(c) + (1 - r) * l.
// Blocks: j, i, f, o, r, and l, which is computed from the input alone.
struct HighwayCell {
    static constexpr int64_t kBlocks = 6, kRecurrent = 5;

    static void forward(float* gates, const float* bias, const float* previous, float* cell,
                        float* output, int64_t units, float) {
#pragma omp simd
        for (int64_t k = 0; k < units; ++k) {
            const float j = tangent(gates[k] + bias[k]);
            const float i = sigmoid(gates[k + units] + bias[k + units]);
            const float f = sigmoid(gates[k + 2 * units] + bias[k + 2 * units]);
            const float o = sigmoid(gates[k + 3 * units] + bias[k + 3 * units]);
            const float r = sigmoid(gates[k + 4 * units] + bias[k + 4 * units]);
            const float l = gates[k + 5 * units] + bias[k + 5 * units];
            const float c = f * previous[k] + i * j;
            gates[k] = j;
            gates[k + units] = i;
            gates[k + 2 * units] = f;
            gates[k + 3 * units] = o;
            gates[k + 4 * units] = r;
            gates[k + 5 * units] = l;
            cell[k] = c;
            output[k] = l + r * (o * tangent(c) - l);
        }
    }

    static void backward(float* gates, const float* previous, const float* cell,
                         const float* d_output, float* d_cell, int64_t units, float) {
#pragma omp simd
        for (int64_t k = 0; k < units; ++k) {
            const float j = gates[k], i = gates[k + units], f = gates[k + 2 * units];
            const float o = gates[k + 3 * units], r = gates[k + 4 * units];
            const float l = gates[k + 5 * units], t = tangent(cell[k]), out = d_output[k];
            const float d = d_cell[k] + out * r * o * (1.0f - t * t);
            gates[k] = d * i * (1.0f - j * j);
            gates[k + units] = d * j * i * (1.0f - i);
            gates[k + 2 * units] = d * previous[k] * f * (1.0f - f);
            gates[k + 3 * units] = out * r * t * o * (1.0f - o);
            gates[k + 4 * units] = out * (o * t - l) * r * (1.0f - r);
            gates[k + 5 * units] = out * (1.0f - r);
            d_cell[k] = d * f;
        }
    }
};

// Lee et al. (2017): c = (1 - i) * previous + i * tanh(j), output = o * tanh(c). Blocks: j, i, o.
struct CoupledCell {
    static constexpr int64_t kBlocks = 3, kRecurrent = 3;

    static void forward(float* gates, const float* bias, const float* previous, float* cell,
                        float* output, int64_t units, float) {
#pragma omp simd
        for (int64_t k = 0; k < units; ++k) {
            const float j = tangent(gates[k] + bias[k]);
            const float i = sigmoid(gates[k + units] + bias[k + units]);
            const float o = sigmoid(gates[k + 2 * units] + bias[k + 2 * units]);
            const float c = previous[k] + i * (j - previous[k]);
            gates[k] = j;
            gates[k + units] = i;
            gates[k + 2 * units] = o;
            cell[k] = c;
            output[k] = o * tangent(c);
        }
    }

    static void backward(float* gates, const float* previous, const float* cell,
                         const float* d_output, float* d_cell, int64_t units, float) {
#pragma omp simd
        for (int64_t k = 0; k < units; ++k) {
            const float j = gates[k], i = gates[k + units], o = gates[k + 2 * units];
            const float t = tangent(cell[k]);
            const float d = d_cell[k] + d_output[k] * o * (1.0f - t * t);
            gates[k] = d * i * (1.0f - j * j);
            gates[k + units] = d * (j - previous[k]) * i * (1.0f - i);
            gates[k + 2 * units] = d_output[k] * t * o * (1.0f - o);
            d_cell[k] = d * (1.0f - i);
        }
    }
};

// PyTorch's GRU, whose output is its only state: output = (1 - z) * n + z * previous with
// n = tanh(m + r * h). Blocks: r, z, h, and m, which is computed from the input alone. The weights
// from the input to h are zero.
struct GatedCell {
    static constexpr int64_t kBlocks = 4, kRecurrent = 3;

    static void forward(float* gates, const float* bias, const float* previous, float* cell,
                        float* output, int64_t units, float) {
#pragma omp simd
        for (int64_t k = 0; k < units; ++k) {
            const float r = sigmoid(gates[k] + bias[k]);
            const float z = sigmoid(gates[k + units] + bias[k + units]);
            const float h = gates[k + 2 * units] + bias[k + 2 * units];
            const float n = tangent(gates[k + 3 * units] + bias[k + 3 * units] + r * h);
            gates[k] = r;
            gates[k + units] = z;
            gates[k + 2 * units] = h;
            gates[k + 3 * units] = n;
            cell[k] = n + z * (previous[k] - n);
            output[k] = cell[k];
        }
    }

    static void backward(float* gates, const float* previous, const float*, const float* d_output,
                         float* d_cell, int64_t units, float) {
#pragma omp simd
        for (int64_t k = 0; k < units; ++k) {
            const float r = gates[k], z = gates[k + units];
            const float h = gates[k + 2 * units], n = gates[k + 3 * units];
            const float d = d_output[k] + d_cell[k];
            const float d_inner = d * (1.0f - z) * (1.0f - n * n);
            gates[k] = d_inner * h * r * (1.0f - r);
            gates[k + units] = d * (previous[k] - n) * z * (1.0f - z);
            gates[k + 2 * units] = d_inner * r;
            gates[k + 3 * units] = d_inner;
            d_cell[k] = d * z;
        }
    }
};

}  // namespace
