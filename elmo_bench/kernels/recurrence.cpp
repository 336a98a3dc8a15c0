// Whole recurrent layers over packed sequences: rows are sorted by step, and in each step the
// longest sequences come first. Products that need no loop over the steps are moved out of it: those
// of the inputs run for many steps at once, the weights' gradients after the last step.

#include <vector>

#include "cells.h"
#include "products.h"

extern "C" {

// One layer in one direction. With `keep`, gates, cells and activations have a row for every packed
// row, for the backward pass; fed_back is then as long. Without, they are buffers: of gates for
// kBlock rows of every part and for one step, of the others for one step.
struct Layer {
    int64_t cell;  // 0: ClippedCell, 1: HighwayCell, 2: CoupledCell, 3: GatedCell
    int64_t num_steps, num_sequences, num_rows, input_dim, units, output_dim;
    int64_t backwards, keep;
    float cell_clip, output_clip;
    const int64_t* sizes;  // rows of each step
    const float *inputs, *bias, *first_output, *first_cell;
    const float* mask;  // (sequence, output): factor of the output that is fed back, or null
    const float *input_weight, *recurrent_weight;  // packed
    const float* projection_weight;  // packed, or null: the cell's output is the layer's
    float *gates, *cells, *activations, *fed_back, *outputs, *last_output, *last_cell;
};

// The gradients of a layer; those of the gates replace the gates. The weights are packed for the
// products of the backward pass.
struct Gradients {
    const float *d_outputs, *input_weight, *recurrent_weight, *projection_weight;
    float* d_total;  // (row, output): of the outputs, with what comes back from the next step
    float* d_activations;  // (sequence, unit): a buffer; null without a projection
    float *d_output, *d_cell;  // (sequence, ...): of the last states, then of the first ones
    float* d_inputs;  // or null
    float *d_input_weight, *d_bias, *d_recurrent_weight, *d_projection_weight;
    float *packed_inputs, *packed_fed_back, *packed_activations;  // buffers
};
}

namespace {

// What a part of the sequences does in one step.
struct Step {
    int64_t row, size;  // its rows
    int64_t before, continuing;  // rows of the step read before, and how many of them go on
    int64_t ending;  // from here on, its sequences have no further step
};

// Some of a layer's sequences, which one thread reads. They do not depend on each other.
struct Part {
    const Layer& layer;
    int64_t number, first, last;  // of the sequences
    std::vector<Step> steps;  // in reading order, without those that no sequence reaches

    Part(const Layer& layer, int64_t number, int64_t first, int64_t last)
        : layer(layer), number(number), first(first), last(last) {
        int64_t row = 0;
        for (int64_t n = 0; n < layer.num_steps; row += layer.sizes[n++]) {
            const int64_t size = std::min(layer.sizes[n], last) - first;
            if (size > 0) steps.push_back({row + first, size, 0, 0, 0});
        }
        if (layer.backwards) std::reverse(steps.begin(), steps.end());
        for (size_t n = 1; n < steps.size(); ++n) {
            steps[n].before = steps[n - 1].row;
            steps[n].continuing = std::min(steps[n].size, steps[n - 1].size);
            steps[n - 1].ending = steps[n].continuing;
        }
    }

    bool whole() const { return first == 0 && last == layer.num_sequences; }

    // The cell state before a step, of its sequence number r.
    const float* cell_before(const Step& step, int64_t r) const {
        const int64_t row = layer.keep ? step.before + r : first + r;
        const float* cells = r < step.continuing ? layer.cells + row * layer.units
                                                 : layer.first_cell + (first + r) * layer.units;
        return cells;
    }
};

inline void clip_all(float* values, int64_t count, float clip) {
#pragma omp simd
    for (int64_t k = 0; k < count; ++k) {
        values[k] = values[k] > clip ? clip : values[k];
        values[k] = values[k] < -clip ? -clip : values[k];
    }
}

// Fills the previous outputs that a step reads, times the mask.
inline void feed_back(const Part& part, const Step& step, float* fed_back) {
    const Layer& layer = part.layer;
    const int64_t dim = layer.output_dim;
    for (int64_t r = 0; r < step.size; ++r, fed_back += dim) {
        const float* output = r < step.continuing ? layer.outputs + (step.before + r) * dim
                                                  : layer.first_output + (part.first + r) * dim;
        if (!layer.mask) {
            std::memcpy(fed_back, output, dim * sizeof(float));
            continue;
        }
        const float* mask = layer.mask + (part.first + r) * dim;
        for (int64_t k = 0; k < dim; ++k) fed_back[k] = output[k] * mask[k];
    }
}

// One step forward, from gates that have only the input product.
template <class Cell>
void advance(const Part& part, const Step& step, float* gates) {
    const Layer& layer = part.layer;
    const int64_t width = Cell::kBlocks * layer.units, dim = layer.output_dim;
    const int64_t kept = layer.keep ? step.row : part.first;
    float* fed_back = layer.fed_back + kept * dim;
    feed_back(part, step, fed_back);
    multiply(fed_back, dim, step.size, dim, layer.recurrent_weight, Start::kOld, nullptr, gates,
             width, Cell::kRecurrent * layer.units);
    float* outputs = layer.outputs + step.row * dim;
    float* activations = layer.projection_weight ? layer.activations + kept * layer.units
                                                 : outputs;
    for (int64_t r = 0; r < step.size; ++r) {
        Cell::forward(gates + r * width, layer.bias, part.cell_before(step, r),
                      layer.cells + (kept + r) * layer.units, activations + r * layer.units,
                      layer.units, layer.cell_clip);
    }
    if (layer.projection_weight) {
        multiply(activations, layer.units, step.size, layer.units, layer.projection_weight,
                 Start::kZero, nullptr, outputs, dim, dim);
        clip_all(outputs, step.size * dim, layer.output_clip);
    }
    for (int64_t r = step.ending; r < step.size; ++r) {
        std::memcpy(layer.last_output + (part.first + r) * dim, outputs + r * dim,
                    dim * sizeof(float));
        std::memcpy(layer.last_cell + (part.first + r) * layer.units,
                    layer.cells + (kept + r) * layer.units, layer.units * sizeof(float));
    }
}

template <class Cell>
void run_forward(const Part& part) {
    const Layer& layer = part.layer;
    const int64_t width = Cell::kBlocks * layer.units;
    for (size_t n = 0; n < part.steps.size();) {
        // The input product of several steps at once, if their rows follow each other.
        size_t end = n;
        int64_t rows = 0;
        do {
            rows += part.steps[end++].size;
        } while (end < part.steps.size() && part.whole() && rows < kBlock);
        const int64_t start = std::min(part.steps[n].row, part.steps[end - 1].row);
        float* gates = layer.gates + (layer.keep ? start : part.number * kBlock + part.first) * width;
        multiply(layer.inputs + start * layer.input_dim, layer.input_dim, rows, layer.input_dim,
                 layer.input_weight, Start::kZero, nullptr, gates, width, width);
        for (; n < end; ++n) {
            advance<Cell>(part, part.steps[n], gates + (part.steps[n].row - start) * width);
        }
    }
}

template <class Cell>
void run_backward(const Part& part, const Gradients& gradients) {
    const Layer& layer = part.layer;
    const int64_t units = layer.units, dim = layer.output_dim, width = Cell::kBlocks * units;
    float* d_output = gradients.d_output + part.first * dim;
    float* d_cell = gradients.d_cell + part.first * units;
    for (size_t n = part.steps.size(); n-- > 0;) {
        const Step& step = part.steps[n];
        float* d_total = gradients.d_total + step.row * dim;
        const float* given = gradients.d_outputs + step.row * dim;
        const float* outputs = layer.outputs + step.row * dim;
        for (int64_t k = 0; k < step.size * dim; ++k) {
            const float sum = given[k] + d_output[k];
            d_total[k] = std::fabs(outputs[k]) >= layer.output_clip ? 0.0f : sum;
        }
        const float* d_activations = d_total;
        if (layer.projection_weight) {
            float* buffer = gradients.d_activations + part.first * units;
            multiply(d_total, dim, step.size, dim, gradients.projection_weight, Start::kZero,
                     nullptr, buffer, units, units);
            d_activations = buffer;
        }
        float* gates = layer.gates + step.row * width;
        for (int64_t r = 0; r < step.size; ++r) {
            Cell::backward(gates + r * width, part.cell_before(step, r),
                           layer.cells + (step.row + r) * units, d_activations + r * units,
                           d_cell + r * units, units, layer.cell_clip);
        }
        multiply(gates, width, step.size, Cell::kRecurrent * units, gradients.recurrent_weight,
                 Start::kZero, nullptr, d_output, dim, dim);
        if (layer.mask) {
            const float* mask = layer.mask + part.first * dim;
            for (int64_t k = 0; k < step.size * dim; ++k) d_output[k] *= mask[k];
        }
    }
}

// Gradients of weights, bias and inputs, in tasks of kBlock rows of a result each.
template <class Cell>
class Products {
  public:
    Products(const Layer& layer, const Gradients& gradients)
        : layer_(layer), gradients_(gradients), width_(Cell::kBlocks * layer.units),
          recurrent_(Cell::kRecurrent * layer.units), gate_tasks_(blocks(width_)),
          input_tasks_(gradients.d_inputs ? blocks(layer.num_rows) : 0),
          projection_tasks_(layer.projection_weight ? blocks(layer.output_dim) : 0) {}

    void pack_right() const {
        const int64_t rows = layer_.num_rows, dim = layer_.output_dim;
        pack(row_major(layer_.inputs, layer_.input_dim), rows, layer_.input_dim,
             gradients_.packed_inputs);
        pack(row_major(layer_.fed_back, dim), rows, dim, gradients_.packed_fed_back);
        if (!layer_.projection_weight) return;
        pack(row_major(layer_.activations, layer_.units), rows, layer_.units,
             gradients_.packed_activations);
    }

    int64_t num_tasks() const { return gate_tasks_ + input_tasks_ + projection_tasks_; }

    void run(int64_t task) const {
        if (task < gate_tasks_) return of_gates(task * kBlock);
        task -= gate_tasks_;
        if (task < input_tasks_) return of_inputs(task * kBlock);
        of_projection((task - input_tasks_) * kBlock);
    }

  private:
    const Layer& layer_;
    const Gradients& gradients_;
    int64_t width_, recurrent_, gate_tasks_, input_tasks_, projection_tasks_;

    static int64_t blocks(int64_t rows) { return (rows + kBlock - 1) / kBlock; }

    void of_gates(int64_t start) const {
        const Right rights[] = {
            {gradients_.packed_inputs, layer_.input_dim, gradients_.d_input_weight},
            {gradients_.packed_fed_back, layer_.output_dim, gradients_.d_recurrent_weight}};
        // Rows of the input weight that have no recurrent weight are a block of their own.
        const int64_t end = std::min(width_, start + kBlock);
        const int64_t middle = std::clamp(recurrent_, start, end);
        multiply_transposed(layer_.gates, width_, layer_.num_rows, start, middle, rights, 2,
                            nullptr, gradients_.d_bias);
        multiply_transposed(layer_.gates, width_, layer_.num_rows, middle, end, rights, 1, nullptr,
                            gradients_.d_bias);
    }

    void of_inputs(int64_t start) const {
        multiply(layer_.gates + start * width_, width_, std::min(kBlock, layer_.num_rows - start),
                 width_, gradients_.input_weight, Start::kZero, nullptr,
                 gradients_.d_inputs + start * layer_.input_dim, layer_.input_dim,
                 layer_.input_dim);
    }

    void of_projection(int64_t start) const {
        const Right right{gradients_.packed_activations, layer_.units,
                          gradients_.d_projection_weight};
        multiply_transposed(gradients_.d_total, layer_.output_dim, layer_.num_rows, start,
                            std::min(layer_.output_dim, start + kBlock), &right, 1, nullptr,
                            nullptr);
    }
};

// Calls visit with the layer's kind of cell.
template <class Visit>
void with_cell(const Layer& layer, const Visit& visit) {
    if (layer.cell == 0) return visit(ClippedCell());
    if (layer.cell == 1) return visit(HighwayCell());
    if (layer.cell == 2) return visit(CoupledCell());
    visit(GatedCell());
}

// Divides every layer's sequences so that all threads have about the same number of rows.
std::vector<Part> parts_of(const Layer* layers, int64_t num_layers, int64_t threads) {
    std::vector<Part> parts;
    const int64_t share = std::max<int64_t>(1, threads / num_layers);
    for (int64_t n = 0; n < num_layers; ++n) {
        const Layer& layer = layers[n];
        int64_t first = 0, rows = 0, number = 0;
        for (int64_t sequence = 0; sequence < layer.num_sequences; ++sequence) {
            rows += std::count_if(layer.sizes, layer.sizes + layer.num_steps,
                                  [&](int64_t size) { return size > sequence; });
            const bool full = rows * share >= (number + 1) * layer.num_rows;
            const bool last = sequence + 1 == layer.num_sequences;
            if (last || (full && (sequence + 1 - first) >= kRows)) {
                parts.emplace_back(layer, number++, first, sequence + 1);
                first = sequence + 1;
            }
        }
    }
    return parts;
}

}  // namespace

extern "C" {

// The number of parts that recurrence_forward makes of a layer, at most.
int64_t max_parts(int64_t num_layers, int64_t threads) {
    return std::max<int64_t>(1, threads / num_layers) + 1;
}

void recurrence_forward(const Layer* layers, int64_t num_layers, int64_t threads) {
    const std::vector<Part> parts = parts_of(layers, num_layers, threads);
    parallel(threads, parts.size(), [&](int64_t number) {
        with_cell(parts[number].layer,
                  [&](auto cell) { run_forward<decltype(cell)>(parts[number]); });
    });
}

void recurrence_backward(const Layer* layers, const Gradients* gradients, int64_t num_layers,
                         int64_t threads) {
    const std::vector<Part> parts = parts_of(layers, num_layers, threads);
    parallel(threads, parts.size(), [&](int64_t number) {
        const Part& part = parts[number];
        with_cell(part.layer, [&](auto cell) {
            run_backward<decltype(cell)>(part, gradients[&part.layer - layers]);
        });
    });
    parallel(threads, num_layers, [&](int64_t n) {
        with_cell(layers[n], [&](auto cell) {
            Products<decltype(cell)>(layers[n], gradients[n]).pack_right();
        });
    });
    with_cell(layers[0], [&](auto cell) {  // all layers of a call have the same kind of cell
        std::vector<Products<decltype(cell)>> products;
        std::vector<int64_t> ends;
        for (int64_t n = 0; n < num_layers; ++n) {
            products.emplace_back(layers[n], gradients[n]);
            ends.push_back((n ? ends.back() : 0) + products.back().num_tasks());
        }
        parallel(threads, ends.back(), [&](int64_t task) {
            const int64_t n = std::upper_bound(ends.begin(), ends.end(), task) - ends.begin();
            products[n].run(task - (n ? ends[n - 1] : 0));
        });
    });
}

// Returns 0 if this machine can run the code and the result agrees with libm.
int self_check() {
    const int64_t units = 67;
    std::vector<float> gates(4 * units), previous(units), cell(units), output(units);
    for (size_t k = 0; k < gates.size(); ++k) gates[k] = 12.0f * std::sin(0.7f * k);
    for (size_t k = 0; k < previous.size(); ++k) previous[k] = 2.9f * std::cos(1.3f * k);
    const std::vector<float> raw = gates, bias(4 * units, 0.25f);
    parallel(2, 1, [&](int64_t) {
        ClippedCell::forward(gates.data(), bias.data(), previous.data(), cell.data(), output.data(),
                             units, 3.0f);
    });
    auto s = [](double x) { return 1.0 / (1.0 + std::exp(-x - 0.25)); };
    for (int64_t k = 0; k < units; ++k) {
        const float* z = raw.data() + k;
        double c = s(z[2 * units]) * previous[k] + s(z[0]) * std::tanh(z[units] + 0.25);
        c = c > 3.0 ? 3.0 : (c < -3.0 ? -3.0 : c);
        if (!(std::fabs(output[k] - s(z[3 * units]) * std::tanh(c)) < 2e-6)) return 1;
    }
    return 0;
}
}
