// Every op on shapes that nobody chose: no axes or many, sizes of 0 and 1, operands repeated by broadcasting, every element type.
// What the shape rule accepts, every kernel computes as the reference does. A failure prints the number of its case.
#include <cmath>

#include "core/error.h"
#include "ops/binary/binary.h"
#include "ops/cast/cast.h"
#include "ops/compare/compare.h"
#include "ops/concat/concat.h"
#include "ops/conv/conv.h"
#include "ops/embedding/embedding.h"
#include "ops/fused_linear/fused_linear.h"
#include "ops/gated/gated.h"
#include "ops/gather/gather.h"
#include "ops/group_norm/group_norm.h"
#include "ops/index_select/index_select.h"
#include "ops/kv_write/kv_write.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/pad/pad.h"
#include "ops/pool/pool.h"
#include "ops/qkv_post/qkv_post.h"
#include "ops/quantize/quantize.h"
#include "ops/reduce/reduce.h"
#include "ops/rms_norm/rms_norm.h"
#include "ops/rope/rope.h"
#include "ops/softmax/softmax.h"
#include "ops/test_support.h"
#include "ops/topk/topk.h"
#include "ops/unary/unary.h"
#include "ops/views/views.h"

namespace headrace {
namespace {

constexpr int kCases = 30;  // of each kind
constexpr int64_t kMostElements = 4000;
constexpr DType kPlainTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kI64, DType::kI32, DType::kI8, DType::kU8, DType::kBool};
constexpr DType kFloatTypes[] = {DType::kF32, DType::kF32, DType::kF16, DType::kBF16};

// Draws shapes and everything else; the same for the same seed.
class Draw {
 public:
  explicit Draw(uint32_t seed) : state_(seed * 2654435761u + 12345) {}
  int64_t below(int64_t limit) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return int64_t((state_ >> 33) % uint64_t(limit));
  }
  bool one_in(int64_t n) { return below(n) == 0; }
  template <typename List>
  auto of(const List& list) {
    return std::begin(list)[below(int64_t(std::size(list)))];
  }
  int64_t size() { return of(std::initializer_list<int64_t>{0, 1, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 65, 130}); }
  int64_t size_above_0() { return std::max<int64_t>(size(), 1); }
  Sizes sizes(int64_t least_rank, int64_t most_rank) {
    Sizes drawn;
    int64_t elements = 1;
    for (int64_t left = least_rank + below(most_rank - least_rank + 1); left > 0; --left) {
      int64_t size = this->size();
      if (elements * size > kMostElements) size = 1;
      elements *= std::max<int64_t>(size, 1);
      drawn.push_back(size);
    }
    return drawn;
  }
  // What broadcasts to `whole`: some leading axes gone, some others 1.
  Sizes part_of(const Sizes& whole) {
    Sizes part;
    for (int64_t i = one_in(3) ? below(whole.rank() + 1) : 0; i < whole.rank(); ++i) part.push_back(one_in(4) ? 1 : whole[int(i)]);
    return part;
  }
  DType float_type() { return of(kFloatTypes); }
  DType plain_type() { return one_in(2) ? DType::kF32 : of(kPlainTypes); }
  HostTensor tensor(const Sizes& sizes, DType dtype, float scale = 2) {
    return random_tensor(sizes, dtype, uint32_t(below(1 << 20)), scale);
  }
  HostTensor vector(int64_t size) { return tensor({size}, float_type()); }
  HostTensor indices(int64_t count, int64_t limit) {
    std::vector<int64_t> drawn(static_cast<size_t>(count));
    for (int64_t& i : drawn) i = below(limit + 4) - 2;  // some of them out of range
    return integers({count}, drawn, one_in(2) ? DType::kI32 : DType::kI64);
  }

 private:
  uint64_t state_;
};

constexpr double kRelative = 1e-4, kAbsolute = 5e-4;  // sums in another order

// 16-bit results may round the other way where fp32 differs in its last bits.
Check tolerance(const std::vector<TensorType>& results) {
  Check check{.relative = kRelative, .absolute = kAbsolute, .least_kernels = 0};
  for (const TensorType& t : results)
    if (t.dtype == DType::kF16 || t.dtype == DType::kBF16) check.relative = check.absolute = 0.02;
  return check;
}

using Operands = std::vector<TestOperand>;

struct Case {
  std::string op;
  Attributes attributes;
  Operands operands;
};

// Runs what `make` draws; what the shape rule refuses is another draw. At least half must be accepted, or little is tested.
void check_cases(const std::function<Case(Draw&)>& make) {
  int accepted = 0;
  for (int i = 0; i < kCases; ++i) {
    Draw draw(static_cast<uint32_t>(i + 1));
    const Case c = make(draw);
    std::vector<std::string> types;
    std::string text = fmt::format("case {}: {}", i, c.op);
    for (const TestOperand& operand : c.operands) types.push_back(type_of(operand.tensor).to_string()), text += " " + types.back();
    for (const Field& field : c.attributes.changed_fields()) text += fmt::format(" {}={}", field.name, field.text);
    SCOPED_TRACE(text);
    std::vector<TensorType> results;
    try {
      results = infer(c.op, c.attributes, types);
    } catch (const Error& e) {
      EXPECT_EQ(e.code, ErrorCode::kInvalidArgument) << e.what();
      continue;
    }
    ++accepted;
    expect_kernels_match_reference(c.op, c.attributes, c.operands, tolerance(results));
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GE(accepted, kCases / 2);
}

// ---------------------------------------------------------------------------------------------------------------- element by element

TEST(OddShapes, Binary) {
  check_cases([](Draw& draw) -> Case {
    const Sizes whole = draw.sizes(0, 5);
    return {std::string(draw.of(kBinaryNames)),
            {},
            {draw.tensor(draw.part_of(whole), draw.plain_type()), draw.tensor(draw.part_of(whole), draw.plain_type())}};
  });
}

TEST(OddShapes, Compare) {
  check_cases([](Draw& draw) -> Case {
    const Sizes whole = draw.sizes(0, 5);
    const DType dtype = draw.plain_type();
    return {std::string(draw.of(kComparisonNames)),
            {},
            {draw.tensor(draw.part_of(whole), dtype), draw.tensor(draw.part_of(whole), draw.one_in(2) ? dtype : draw.plain_type())}};
  });
}

TEST(OddShapes, Unary) {
  check_cases([](Draw& draw) -> Case {
    const HostTensor x = draw.tensor(draw.sizes(0, 5), draw.plain_type());
    if (draw.one_in(8)) return {"gelu", Gelu{.tanh = draw.one_in(2)}, {x}};
    return {std::string(draw.of(kUnaryNames)), {}, {x}};
  });
}

TEST(OddShapes, Cast) {
  check_cases([](Draw& draw) -> Case {
    return {"cast", Cast{draw.of(kPlainTypes)}, {draw.tensor(draw.sizes(0, 5), draw.of(kPlainTypes), 100)}};
  });
}

TEST(OddShapes, Where) {
  check_cases([](Draw& draw) -> Case {
    const Sizes whole = draw.sizes(0, 5);
    return {"where",
            {},
            {draw.tensor(draw.part_of(whole), DType::kBool), draw.tensor(draw.part_of(whole), draw.plain_type()),
             draw.tensor(draw.part_of(whole), draw.plain_type())}};
  });
}

TEST(OddShapes, Gated) {
  check_cases([](Draw& draw) -> Case {
    Sizes sizes = draw.sizes(1, 4);
    sizes[-1] *= 2;
    return {"gated", Gated{Activation(draw.below(4))}, {draw.tensor(sizes, draw.float_type())}};
  });
}

// ---------------------------------------------------------------------------------------------------------------- along an axis

int64_t axis_of(Draw& draw, const Sizes& sizes) { return draw.below(2 * sizes.rank()) - sizes.rank(); }

TEST(OddShapes, Softmax) {
  check_cases([](Draw& draw) -> Case {
    const Sizes sizes = draw.sizes(1, 4);
    return {draw.one_in(2) ? "softmax" : "log_softmax", Softmax{.axis = axis_of(draw, sizes)}, {draw.tensor(sizes, draw.float_type(), 10)}};
  });
}

TEST(OddShapes, ReduceAndCumSum) {
  check_cases([](Draw& draw) -> Case {
    const Sizes sizes = draw.sizes(1, 5);
    const HostTensor x = draw.tensor(sizes, draw.plain_type());
    if (draw.one_in(5)) return {"cumsum", CumSum{.axis = axis_of(draw, sizes)}, {x}};
    std::vector<int64_t> axes;
    for (int64_t axis = 0; axis < sizes.rank(); ++axis)
      if (draw.one_in(2)) axes.push_back(draw.one_in(2) ? axis : axis - sizes.rank());
    return {std::string(draw.of(kReductionNames)), Reduce{.axes = axes, .keepdim = draw.one_in(2)}, {x}};
  });
}

TEST(OddShapes, Norms) {
  check_cases([](Draw& draw) -> Case {
    const Sizes sizes = draw.sizes(1, 4);
    const DType dtype = draw.float_type();
    const bool layer = draw.one_in(2), adds = draw.one_in(2);
    Operands operands{draw.tensor(sizes, dtype)};
    if (adds) operands.push_back(draw.tensor(sizes, dtype));
    for (int64_t vectors = layer ? draw.below(3) : 1; vectors > 0; --vectors) {
      operands.push_back(draw.vector(sizes[-1]));
      operands.back().constant = draw.one_in(2);
    }
    const float offset = draw.one_in(3) ? 1 : 0;
    if (layer) return {adds ? "add_layer_norm" : "layer_norm", LayerNorm{.eps = 1e-3f, .weight_offset = offset}, operands};
    return {adds ? "add_rms_norm" : "rms_norm", RmsNorm{.eps = 1e-3f, .weight_offset = offset}, operands};
  });
}

TEST(OddShapes, GroupNorm) {
  check_cases([](Draw& draw) -> Case {
    Sizes sizes = draw.sizes(2, 4);
    const int64_t groups = 1 + draw.below(3);
    sizes[1] = groups * draw.below(4);
    Operands operands{draw.tensor(sizes, draw.float_type())};
    for (int64_t vectors = draw.below(3); vectors > 0; --vectors) {
      operands.push_back(draw.vector(sizes[1]));
      operands.back().constant = draw.one_in(2);
    }
    return {"group_norm", GroupNorm{.groups = groups, .eps = 1e-2f}, operands};
  });
}

TEST(OddShapes, TopK) {
  check_cases([](Draw& draw) -> Case {
    const Sizes sizes = draw.sizes(1, 4);
    const int64_t axis = draw.one_in(2) ? -1 : axis_of(draw, sizes);
    return {"topk",
            TopK{.k = draw.below(sizes[int(axis)] + 1), .axis = axis, .largest = draw.one_in(2)},
            {draw.tensor(sizes, draw.plain_type(), 3)}};
  });
}

TEST(OddShapes, QuantizeAndDequantize) {
  check_cases([](Draw& draw) -> Case {
    const Sizes sizes = draw.sizes(1, 4);
    const int64_t axis = axis_of(draw, sizes);
    Sizes scale;
    if (draw.one_in(3)) scale = {sizes[int(axis)]};
    else if (draw.one_in(2))
      for (int64_t size : sizes) scale.push_back(draw.one_in(2) ? 1 : size);
    const DType dtype = draw.one_in(2) ? DType::kI8 : DType::kU8;
    const bool widens = draw.one_in(2);
    const HostTensor positive =
        run_reference("add", {}, {run_reference("abs", {}, {draw.tensor(scale, DType::kF32)})[0], floats({}, {0.01f})})[0];
    Operands operands{draw.tensor(sizes, widens ? draw.one_in(2) ? dtype : DType::kI32 : draw.float_type(), 50), positive};
    if (draw.one_in(2)) operands.push_back(draw.tensor(scale, dtype, 20));
    if (widens) return {"dequantize", Dequantize{.dtype = draw.float_type(), .axis = axis}, operands};
    return {"quantize", Quantize{.dtype = dtype, .axis = axis}, operands};
  });
}

// ---------------------------------------------------------------------------------------------------------------- windows

std::vector<int64_t> for_axes(Draw& draw, int64_t axes, int64_t least, int64_t below) {
  std::vector<int64_t> drawn;
  for (int64_t i = draw.one_in(2) ? 1 : axes; i > 0; --i) drawn.push_back(least + draw.below(below));
  return drawn;
}

TEST(OddShapes, Conv) {
  check_cases([](Draw& draw) -> Case {
    const int64_t axes = 1 + draw.below(2), groups = 1 + draw.below(3), ins = draw.below(5), outs = groups * draw.below(9);
    Sizes x{draw.below(3), groups * ins}, weight{outs, ins};
    for (int64_t i = 0; i < axes; ++i) x.push_back(draw.below(40)), weight.push_back(1 + draw.below(4));
    Operands operands{draw.tensor(x, draw.float_type()), draw.tensor(weight, draw.float_type())};
    if (draw.one_in(2)) operands.push_back(draw.vector(outs));
    for (size_t i = 1; i < operands.size(); ++i) operands[i].constant = draw.one_in(2);
    return {axes == 1 ? "conv1d" : "conv2d",
            Conv{.stride = for_axes(draw, axes, 1, 3),
                 .padding = for_axes(draw, axes, 0, 4),
                 .dilation = for_axes(draw, axes, 1, 3),
                 .groups = groups},
            operands};
  });
}

TEST(OddShapes, Pool) {
  check_cases([](Draw& draw) -> Case {
    const int64_t axes = 1 + draw.below(2);
    Sizes x;
    for (int64_t i = axes + 1 + draw.below(2); i > 0; --i) x.push_back(i > axes ? draw.below(4) : draw.below(40));
    const HostTensor operand = draw.tensor(x, draw.float_type());
    const std::vector<int64_t> size = for_axes(draw, axes, 1, 4), stride = for_axes(draw, axes, 1, 4), padding = for_axes(draw, axes, 0, 2);
    if (draw.one_in(2))
      return {axes == 1 ? "max_pool1d" : "max_pool2d",
              MaxPool{.kernel_size = size, .stride = stride, .padding = padding, .dilation = for_axes(draw, axes, 1, 3)},
              {operand}};
    return {axes == 1 ? "avg_pool1d" : "avg_pool2d",
            AvgPool{.kernel_size = size, .stride = stride, .padding = padding, .count_include_pad = draw.one_in(2)},
            {operand}};
  });
}

// ---------------------------------------------------------------------------------------------------------------- arrangement

Shape shape_of(const Sizes& sizes) {
  Shape shape;
  for (int64_t size : sizes) shape.push_back(size);
  return shape;
}

TEST(OddShapes, Views) {
  check_cases([](Draw& draw) -> Case {
    const Sizes sizes = draw.sizes(1, 5);
    const int64_t rank = sizes.rank();
    const HostTensor x = draw.tensor(sizes, draw.plain_type());
    switch (draw.below(4)) {
      case 0: {  // neighbours joined, others split off 1
        Sizes joined;
        for (int64_t size : sizes) {
          if (joined.rank() > 0 && draw.one_in(2)) joined[-1] *= size;
          else joined.push_back(size);
          if (joined.rank() < kMaxRank - 1 && draw.one_in(4)) joined.push_back(1);
        }
        return {"view", View{shape_of(joined)}, {x}};
      }
      case 1: {
        std::vector<int64_t> axes;
        for (int64_t i = 0; i < rank; ++i) axes.insert(axes.begin() + draw.below(i + 1), draw.one_in(3) ? i - rank : i);
        return {"permute", Permute{axes}, {x}};
      }
      case 2:
        return {"slice",
                Slice{.axis = axis_of(draw, sizes),
                      .begin = draw.below(12) - 6,
                      .end = draw.one_in(3) ? kToEnd : draw.below(40) - 10,
                      .step = 1 + draw.below(4)},
                {x}};
      default: {
        Sizes whole;
        for (int64_t i = draw.below(3); i > 0; --i) whole.push_back(draw.below(3));
        for (int64_t size : sizes) whole.push_back(size == 1 ? draw.below(4) : size);
        return {"expand", Expand{shape_of(whole)}, {x}};
      }
    }
  });
}

TEST(OddShapes, Concat) {
  check_cases([](Draw& draw) -> Case {
    Sizes sizes = draw.sizes(1, 4);
    const int64_t axis = axis_of(draw, sizes);
    const DType dtype = draw.of(kPlainTypes);
    Operands operands;
    for (int64_t count = 1 + draw.below(5); count > 0; --count) {
      sizes[int(axis)] = draw.below(9);
      operands.emplace_back(draw.tensor(sizes, dtype));
    }
    return {"concat", Concat{.axis = axis}, operands};
  });
}

TEST(OddShapes, PadAndGather) {
  check_cases([](Draw& draw) -> Case {
    const Sizes sizes = draw.sizes(1, 4);
    const HostTensor x = draw.tensor(sizes, draw.plain_type());
    if (draw.one_in(2)) {
      std::vector<int64_t> pads;
      for (int64_t i = draw.below(sizes.rank() + 1); i > 0; --i) pads.push_back(draw.below(3)), pads.push_back(draw.below(3));
      return {"pad", Pad{.pads = pads, .value = double(draw.below(5))}, {x}};
    }
    const int64_t axis = axis_of(draw, sizes);
    Sizes index = sizes;
    for (int i = 0; i < index.rank(); ++i) index[i] = draw.below(index[i] + 1);
    index[int(axis)] = draw.below(10);
    return {"gather", Gather{axis}, {x, draw.tensor(index, draw.one_in(2) ? DType::kI32 : DType::kI64, float(sizes[int(axis)] + 2))}};
  });
}

TEST(OddShapes, IndexSelectAndEmbedding) {
  check_cases([](Draw& draw) -> Case {
    const Sizes sizes = draw.sizes(1, 4);
    const int64_t axis = axis_of(draw, sizes), count = draw.below(10);
    if (draw.one_in(2))
      return {"index_select", IndexSelect{axis}, {draw.tensor(sizes, draw.plain_type()), draw.indices(count, sizes[int(axis)])}};
    const int64_t rows = draw.size();
    return {"embedding", Embedding{draw.float_type()}, {draw.indices(count, rows), draw.tensor({rows, draw.size()}, draw.plain_type())}};
  });
}

// ---------------------------------------------------------------------------------------------------------------- products, positions

TEST(OddShapes, Matmul) {
  check_cases([](Draw& draw) -> Case {
    const Sizes batch = draw.sizes(0, 3);
    const int64_t m = draw.below(20), k = draw.size(), n = draw.size();
    const DType dtype = draw.float_type();
    Sizes a = batch.numel() > 20 ? Sizes() : draw.part_of(batch), b = batch.numel() > 20 ? Sizes() : draw.part_of(batch);
    a.push_back(m), a.push_back(k), b.push_back(k), b.push_back(n);
    if (draw.one_in(6)) a = {k};
    if (draw.one_in(6)) b = {k};
    return {"matmul", {}, {draw.tensor(a, dtype), draw.tensor(b, dtype)}};
  });
}

TEST(OddShapes, Linear) {
  check_cases([](Draw& draw) -> Case {
    constexpr DType kWeightTypes[] = {DType::kF32, DType::kF32, DType::kF16, DType::kBF16, DType::kQ8_0, DType::kQ4_1, DType::kQ5_0};
    const DType dtype = draw.of(kWeightTypes);
    const int64_t block = info(dtype).block_elements, in = block > 1 ? block * draw.below(3) : draw.size();
    const auto known = [](HostTensor tensor) {
      TestOperand operand = constant(std::move(tensor));
      operand.as_is = true;
      return operand;
    };
    Sizes sizes = draw.one_in(2) ? Sizes{draw.below(20)} : draw.sizes(0, 2);
    sizes.push_back(in);
    FusedLinear a{.num_weights = 1 + draw.below(3), .eps = 1e-3f, .bias = draw.one_in(2), .residual = draw.one_in(2)};
    a.norm = FusedLinear::Norm(draw.below(3)), a.activation = FusedLinear::Activation(draw.below(5));
    a.norm_bias = a.norm == FusedLinear::Norm::kLayer && draw.one_in(2);
    a.gated = a.num_weights == 2 && a.activation != FusedLinear::Activation::kNone;
    Operands operands{draw.tensor(sizes, DType::kF32)};
    if (a.norm != FusedLinear::Norm::kNone) operands.push_back(known(draw.vector(in)));
    if (a.norm_bias) operands.push_back(known(draw.vector(in)));
    std::vector<int64_t> rows;
    int64_t width = 0;
    for (int64_t i = 0; i < a.num_weights; ++i) rows.push_back(a.gated && i ? rows[0] : draw.size());
    for (int64_t n : rows) operands.push_back(known(draw.tensor({n, in}, dtype))), width = a.gated ? n : width + n;
    for (int64_t i = 0; a.bias && i < a.num_weights; ++i) operands.push_back(known(draw.vector(rows[size_t(i)])));
    if (draw.one_in(4)) {  // the plain one
      Operands plain{operands[0], known(draw.tensor({rows[0], in}, dtype))};
      if (a.bias) plain.push_back(known(draw.vector(rows[0])));
      return {"linear", {}, plain};
    }
    sizes[-1] = width;
    if (a.residual) operands.push_back(draw.tensor(sizes, DType::kF32));
    return {"fused_linear", a, operands};
  });
}

TEST(OddShapes, Rope) {
  check_cases([](Draw& draw) -> Case {
    const int64_t tokens = draw.below(8), heads = draw.below(5), head_dim = draw.size_above_0(), half = draw.below(head_dim / 2 + 1);
    if (draw.one_in(4))
      return {"rope_table", RopeTable{.scale = 1.5f}, {draw.tensor({tokens}, DType::kI32, 5000), draw.tensor({half}, DType::kF32)}};
    return {"rope",
            Rope{.head_dim = int(head_dim), .interleaved = draw.one_in(2)},
            {draw.tensor({tokens, heads * head_dim}, draw.float_type()), draw.tensor({tokens, 2 * half}, DType::kF32)}};
  });
}

// ---------------------------------------------------------------------------------------------------------------- the cache

HostTensor distinct_slots(Draw& draw, int64_t tokens, int64_t limit) {
  std::vector<int64_t> slots;
  for (int64_t i = 0; i < tokens; ++i) slots.push_back(i < limit && !draw.one_in(4) ? i : draw.one_in(2) ? -1 : limit + i);
  return integers({tokens}, slots);
}

TEST(OddShapes, KvWriteAndQkvPost) {
  check_cases([](Draw& draw) -> Case {
    const int64_t tokens = draw.below(8), blocks = draw.below(4), block_tokens = 1 + draw.below(5), heads = 1 + draw.below(3),
                  head_dim = draw.size_above_0(), q_heads = heads * (1 + draw.below(3)), half = draw.below(head_dim / 2 + 1);
    TestOperand kv(draw.tensor({blocks, 2, heads, block_tokens, head_dim}, draw.float_type()));
    kv.as_is = true;
    const HostTensor k = draw.tensor({tokens, heads * head_dim}, DType::kF32), v = draw.tensor({tokens, heads * head_dim}, DType::kF32),
                     slots = distinct_slots(draw, tokens, blocks * block_tokens);
    if (draw.one_in(2)) return {"kv_write", {}, {kv, k, v, slots}};
    QkvPost a{.heads = int(q_heads),
              .kv_heads = int(heads),
              .head_dim = int(head_dim),
              .interleaved = draw.one_in(2),
              .qk_norm = draw.one_in(2),
              .eps = 1e-3f};
    Operands operands{kv, draw.tensor({tokens, q_heads * head_dim}, DType::kF32), k,
                      v,  draw.tensor({tokens, 2 * half}, DType::kF32),           slots};
    for (int i = 0; a.qk_norm && i < 2; ++i) operands.emplace_back(draw.tensor({head_dim}, DType::kF32));
    return {"qkv_post", a, operands};
  });
}

}  // namespace
}  // namespace headrace
