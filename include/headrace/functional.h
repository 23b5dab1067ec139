// Functions from Values to Values, with PyTorch's names and meaning: broadcasting, type promotion, negative axes. Each adds nodes to its
// operands' graph. A wrong shape or type throws Error(kInvalidArgument) that names the op, its operands' types and the line of the
// caller's code: "add(f32[tokens, 64], f32[32]): sizes 64 and 32 do not broadcast (at my_model.cpp:42)".
// Shapes and types are documented with each op in src/ops.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "headrace/communicator.h"
#include "headrace/graph.h"

namespace headrace {

// The ops that Headrace knows, for new graphs and for graphs read from text:
//   Graph graph(builtin_ops());        Graph back = Graph::parse(graph.to_text(), builtin_ops());
// Made on first use and never changed.
std::shared_ptr<const OpRegistry> builtin_ops();
// Adds the same to a registry of your own, beside ops of your own: those run as their reference does. Graphs of such a registry can be run
// (Session), but not be written to engines, whose reader knows only the built-in ones.
void register_ops(OpRegistry& registry);

// What a function is given: a Value, or a number, which becomes a constant of the type that PyTorch gives it: the other operand's,
// unless that is of a lower kind (bool < integers < floats). Made by conversion only, it remembers the line where that happened, which is
// the author's; functions that are made of others hand it on: headrace::relu({y, x.where}).
struct Operand {
  Operand(Value value, std::source_location where = std::source_location::current()) : value(value), where(where) {}  // NOLINT
  template <typename Number>
  requires std::is_arithmetic_v<Number> Operand(Number number, std::source_location where = std::source_location::current())  // NOLINT
      : where(where) {
    if constexpr (std::is_same_v<Number, bool>) this->number = number;
    else if constexpr (std::is_integral_v<Number>) this->number = int64_t{number};
    else this->number = double(number);
  }

  Value value;                                                 // empty when it is a number
  std::variant<std::monostate, bool, int64_t, double> number;  // empty when it is a Value
  std::source_location where;
};

// Axes of a tensor: one or several, negative ones count from the back.
struct Axes {
  Axes(int64_t axis) : list{axis} {}                          // NOLINT
  Axes(std::initializer_list<int64_t> axes) : list(axes) {}   // NOLINT
  Axes(std::vector<int64_t> axes) : list(std::move(axes)) {}  // NOLINT
  std::vector<int64_t> list;
};

// ---------------------------------------------------------------------------------------------------------------- arithmetic

Value add(Operand x, Operand y);
Value sub(Operand x, Operand y);
Value mul(Operand x, Operand y);
Value div(Operand x, Operand y);  // of integers: f32
Value pow(Operand x, Operand exponent);
Value maximum(Operand x, Operand y);
Value minimum(Operand x, Operand y);
Value where(Operand condition, Operand x, Operand y);

inline Value operator+(Operand x, Operand y) { return add(x, y); }
inline Value operator-(Operand x, Operand y) { return sub(x, y); }
inline Value operator*(Operand x, Operand y) { return mul(x, y); }
inline Value operator/(Operand x, Operand y) { return div(x, y); }

Value neg(Operand x);
Value abs(Operand x);
Value square(Operand x);
Value exp(Operand x);
Value log(Operand x);
Value sqrt(Operand x);
Value rsqrt(Operand x);
Value erf(Operand x);
Value sin(Operand x);
Value cos(Operand x);
Value tanh(Operand x);
Value sigmoid(Operand x);
Value relu(Operand x);
Value silu(Operand x);
enum class GeluApproximation { kNone, kTanh };
Value gelu(Operand x, GeluApproximation approximation = GeluApproximation::kNone);

inline Value operator-(Operand x) { return neg(x); }

Value cast(Operand x, DType dtype);
inline Value to(Operand x, DType dtype) { return cast(x, dtype); }

// ---------------------------------------------------------------------------------------------------------------- along axes

// No axes: over all.
Value sum(Operand x, Axes dim = {}, bool keepdim = false);
Value mean(Operand x, Axes dim = {}, bool keepdim = false);
Value max(Operand x, Axes dim = {}, bool keepdim = false);  // values alone, as torch.amax
Value min(Operand x, Axes dim = {}, bool keepdim = false);
Value argmax(Operand x, std::optional<int64_t> dim = {}, bool keepdim = false);  // i64; without dim: into the flattened tensor
Value cumsum(Operand x, int64_t dim);
Value softmax(Operand x, int64_t dim);

// Over the last axis. layer_norm can do without bias, or without both.
Value rms_norm(Operand x, Operand weight, float eps = 1e-6f);
Value layer_norm(Operand x, Operand weight = Value(), Operand bias = Value(), float eps = 1e-5f);

// ---------------------------------------------------------------------------------------------------------------- products

Value matmul(Operand a, Operand b);
// How a linear layer is meant to be cut when a model is spread over ranks: by rows of its weight (its outputs), whose results follow one
// after the other, or by columns (its inputs), whose results add up. It changes no result, and one rank does not look at it.
enum class Parallel { kNone, kColumn, kRow };
Value linear(Operand x, Operand weight, Operand bias = Value(), Parallel parallel = Parallel::kNone);  // x (..., in), weight (out, in)

// ---------------------------------------------------------------------------------------------------------------- arrangement

// The same elements in the same order; one size may be -1. It looks at x's memory where x's strides permit, and copies otherwise.
Value reshape(Operand x, Shape shape);
inline Value view(Operand x, Shape shape) { return reshape(x, std::move(shape)); }
Value flatten(Operand x, int64_t start_dim = 0, int64_t end_dim = -1);
Value unflatten(Operand x, int64_t dim, Shape sizes);  // one size may be -1
Value permute(Operand x, std::vector<int64_t> dims);
Value transpose(Operand x, int64_t dim0, int64_t dim1);
Value squeeze(Operand x, Axes dim = {});  // those of the axes whose size is 1 go; no axes: any. A symbol is not 1.
Value unsqueeze(Operand x, int64_t dim);
Value expand(Operand x, Shape shape);  // -1: the size that the axis has
Value repeat_interleave(Operand x, int64_t repeats, int64_t dim);

// Elements begin, begin + step ... of [begin, end); negative bounds count from the back.
Value slice(Operand x, int64_t dim, int64_t begin, int64_t end = std::numeric_limits<int64_t>::max(), int64_t step = 1);
Value narrow(Operand x, int64_t dim, int64_t start, int64_t length);
Value select(Operand x, int64_t dim, int64_t index);  // without the axis
std::vector<Value> split(Operand x, const std::vector<int64_t>& sizes, int64_t dim = 0);
std::vector<Value> chunk(Operand x, int64_t chunks, int64_t dim = 0);  // the last one is smaller when they do not come out even
Value concat(std::vector<Value> values, int64_t dim = 0, std::source_location where = std::source_location::current());
Value stack(std::vector<Value> values, int64_t dim = 0, std::source_location where = std::source_location::current());

Value index_select(Operand x, int64_t dim, Operand indices);
Value embedding(Operand ids, Operand weight);  // weight (rows, width)

// ---------------------------------------------------------------------------------------------------------------- made from nothing

// A tensor of one number; it takes no memory, whatever its shape.
Value full(Graph& graph, Shape shape, double value, DType dtype = DType::kF32,
           std::source_location where = std::source_location::current());
Value zeros(Graph& graph, Shape shape, DType dtype = DType::kF32, std::source_location where = std::source_location::current());
Value ones(Graph& graph, Shape shape, DType dtype = DType::kF32, std::source_location where = std::source_location::current());
// 0, 1, ... end - 1 as i64; `end` may be a symbol.
Value arange(Graph& graph, Dim end, std::source_location where = std::source_location::current());

// ---------------------------------------------------------------------------------------------------------------- attention

// Rotary position embedding (Su et al. 2021, eq. 34) of x (tokens, heads * head_dim), by a table of angles: rope_table(positions (tokens)
// i32, inverse_frequencies (rotary_dim / 2)). See nn.h for RoPE with its variants' frequencies.
Value rope_table(Operand positions, Operand inverse_frequencies, float scale = 1);
Value rope(Operand x, Operand table, int64_t head_dim, bool interleaved = false);

struct AttentionOptions {
  int64_t heads = 0, kv_heads = 0, head_dim = 0;
  double scale = 0;    // 0: 1 / sqrt(head_dim)
  int64_t window = 0;  // 0: none; W: a token sees itself and the W - 1 before it
  double softcap = 0;  // 0: none
};
// softmax(scale q k^T) v of packed sequences: q (tokens, heads * head_dim), k and v (tokens, kv_heads * head_dim), sequence s has the rows
// from sequence_offsets[s] to sequence_offsets[s + 1] -> (tokens, heads * head_dim).
Value causal_attention(Operand q, Operand k, Operand v, Operand sequence_offsets, const AttentionOptions& options);
Value bidirectional_attention(Operand q, Operand k, Operand v, Operand sequence_offsets, const AttentionOptions& options);

// ---------------------------------------------------------------------------------------------------------------- between ranks

// For a model that several ranks run together, each with a graph of its own and in a Session with its end of a Communicator. `ranks`: how
// many take part.
Value all_reduce(Operand x, int ranks, RankReduction reduction = RankReduction::kSum);
Value all_gather(Operand x, int ranks, int64_t dim);                                                     // joined in the order of ranks
Value reduce_scatter(Operand x, int ranks, int64_t dim, RankReduction reduction = RankReduction::kSum);  // of equal parts, this rank's
Value send(Operand x, int peer);                                                                         // returns x
Value recv(Graph& graph, TensorType type, int peer, std::source_location where = std::source_location::current());
// ---------------------------------------------------------------------------------------------------------------- comparison and choice

// Bool. Written as functions: == of Values asks whether they are one.
Value eq(Operand x, Operand y);
Value ne(Operand x, Operand y);
Value lt(Operand x, Operand y);
Value le(Operand x, Operand y);
Value gt(Operand x, Operand y);
Value ge(Operand x, Operand y);
Value logical_and(Operand x, Operand y);
Value logical_or(Operand x, Operand y);
Value logical_xor(Operand x, Operand y);
Value logical_not(Operand x);
Value all(Operand x, Axes dim = {}, bool keepdim = false);  // of at least one element
Value any(Operand x, Axes dim = {}, bool keepdim = false);

Value clamp(Operand x, Operand min, Operand max = Value());  // either may be an empty Value()
Value remainder(Operand x, Operand y);                       // with y's sign
Value sign(Operand x);
Value floor(Operand x);
Value ceil(Operand x);
Value round(Operand x);  // halves to even
Value prod(Operand x, Axes dim = {}, bool keepdim = false);
Value log_softmax(Operand x, int64_t dim);

struct TopKValues {
  Value values, indices;  // best first, of equals the first; i64
};
TopKValues topk(Operand x, int64_t k, int64_t dim = -1, bool largest = true);
Value gather(Operand x, int64_t dim, Operand index);
Value one_hot(Operand ids, int64_t num_classes);                   // i64, with a new last axis
Value pad(Operand x, std::vector<int64_t> pad, double value = 0);  // before and after the last axis, then the one before it ...

// Sums of products along repeated letters, as torch.einsum: einsum("bik,bjk->bij", {x, y}). "..." stands for axes that broadcast; without
// "->" the result has the letters that occur once, sorted. No letter twice in one operand.
Value einsum(std::string_view equation, std::vector<Value> operands, std::source_location where = std::source_location::current());

// ---------------------------------------------------------------------------------------------------------------- neural networks

// Lists hold a number for every axis, or one for all.
struct ConvOptions {
  std::vector<int64_t> stride = {1}, padding = {0}, dilation = {1};
  int64_t groups = 1;
};
// x (batch, in, length) or (batch, in, height, width); weight (out, in / groups, kernel...); bias (out).
Value conv1d(Operand x, Operand weight, Operand bias = Value(), const ConvOptions& options = {});
Value conv2d(Operand x, Operand weight, Operand bias = Value(), const ConvOptions& options = {});

struct PoolOptions {
  std::vector<int64_t> stride = {};  // empty: the kernel's size
  std::vector<int64_t> padding = {0}, dilation = {1};
  bool count_include_pad = true;  // of avg_pool, which has no dilation
};
Value max_pool1d(Operand x, std::vector<int64_t> kernel_size, const PoolOptions& options = {});
Value max_pool2d(Operand x, std::vector<int64_t> kernel_size, const PoolOptions& options = {});
Value avg_pool1d(Operand x, std::vector<int64_t> kernel_size, const PoolOptions& options = {});
Value avg_pool2d(Operand x, std::vector<int64_t> kernel_size, const PoolOptions& options = {});
// The sizes of x are wanted as multiples of output_size's, unless that is 1: then they may be symbols.
Value adaptive_avg_pool1d(Operand x, int64_t output_size);
Value adaptive_avg_pool2d(Operand x, std::vector<int64_t> output_size);

Value group_norm(Operand x, int64_t num_groups, Operand weight = Value(), Operand bias = Value(), float eps = 1e-5f);

// Of a scale (and a zero point of its shape) for the tensor, for each element along an axis, or for each token: x's shape, the last size 1.
struct QuantizeOptions {
  DType dtype = DType::kI8;  // or u8
  int64_t axis = -1;         // of a scale with one axis
};
Value quantize(Operand x, Operand scale, Operand zero_point = Value(), const QuantizeOptions& options = {});
struct DequantizeOptions {
  DType dtype = DType::kF32;
  int64_t axis = -1;
};
Value dequantize(Operand q, Operand scale, Operand zero_point = Value(), const DequantizeOptions& options = {});

struct ScaledDotProductOptions {
  Value mask;                   // (..., L, S) or what broadcasts to it: bool (false: not seen) or floats, which are added
  bool is_causal = false;       // query i sees keys 0 to i
  std::optional<double> scale;  // 1 / sqrt(E)
  bool enable_gqa = false;      // k and v may have fewer heads (axis -3), each for several of q's
};
// softmax(q k^T scale + mask) v of q (..., L, E), k (..., S, E), v (..., S, Ev) -> (..., L, Ev), in plain ops. A query that may see nothing
// gives NaN. For packed sequences see causal_attention.
Value scaled_dot_product_attention(Operand q, Operand k, Operand v, const ScaledDotProductOptions& options = {});

}  // namespace headrace
