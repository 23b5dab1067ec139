// Regions on a CPU: an interpreter whose values are tiles that stay in the first cache. Threads share the rows.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/blocks.h"
#include "ops/for_isa.h"
#include "ops/ops.h"
#include "ops/reference.h"
#include "ops/region/region_program.h"
#include "ops/region/region_rows.h"
#include "ops/strided_loop.h"

#define HEADRACE_FOR_EACH_ISA "ops/region/region.inl.h"
#include "ops/each_isa.inl.h"

namespace headrace {
namespace {

using Place = RegionProgram::Place;
using Code = RegionProgram::Code;
using Instruction = RegionProgram::Instruction;

constexpr int64_t kTile = 512;                         // elements: a few tiles fit the first cache beside what is read
constexpr int64_t kStreamedBytes = int64_t{16} << 20;  // results of this size would only push others out of the caches

struct Functions {
  float (*accumulate)(Reduction, float, const float*, int64_t);
  float (*accumulate_products)(float, const float*, const float*, int64_t);
  void (*stream)(const float*, float*, int64_t);
};

Functions functions_of(CpuIsa isa) {
  return for_isa(isa, Functions{baseline::region_accumulate, baseline::accumulate_products, baseline::region_stream},
                 Functions{avx2::region_accumulate, avx2::accumulate_products, avx2::region_stream},
                 Functions{avx512vnni::region_accumulate, avx512vnni::accumulate_products, avx512vnni::region_stream});
}

void round_to(DType dtype, float* x, int64_t n) {
  alignas(64) std::byte stored[kTile * sizeof(float)];
  from_float(dtype, x, stored, n);
  to_float(dtype, stored, x, n);
}

// One thread's work on a launch.
class Interpreter {
 public:
  Interpreter(const RegionProgram& program, const Functions& functions, const Launch& launch, const RegionRows& rows, bool streams,
              float* scratch)
      : p_(program), f_(functions), launch_(launch), rows_(rows), streams_(streams), pointers_(p_.values().size()),
        accumulators_(size_t(p_.num_accumulators())), filled_(p_.inputs().size(), -1) {
    float* kept = scratch + p_.num_tiles() * kTile;
    for (size_t i = 0; i < p_.values().size(); ++i) {
      const RegionProgram::ValueInfo& v = p_.values()[i];
      pointers_[i] = v.kept ? kept + v.row * rows.length() : scratch + v.tile * kTile;
      if (v.constant) std::fill_n(pointers_[i], std::min(kTile, std::max<int64_t>(rows.length(), 1)), *v.constant);
      if (moves(v)) moving_.push_back(int(i));
    }
    bases_ = pointers_;
  }

  // Elements [begin, end) of a row.
  void run_row(int64_t row, int64_t begin, int64_t end) {
    row_ = row;
    for (const int i : moving_) {
      const RegionProgram::ValueInfo& v = p_.values()[size_t(i)];
      if (v.place == Place::kInput) bases_[size_t(i)] = input(v.index).as<float>() + rows_.offset(v.index, row);
      if (v.place == Place::kOutput && !streams_) bases_[size_t(i)] = launch_.outputs[size_t(v.index)].as<float>() + row * rows_.length();
    }
    for (const RegionProgram::Phase& phase : p_.phases()) {
      for (const Instruction& i : phase.once) run_once(i);
      for (const Instruction& i : phase.tile)
        if (i.code == Code::kAccumulate)
          accumulators_[size_t(i.out)] = i.reduction == Reduction::kMax ? -HUGE_VALF : i.reduction == Reduction::kMin ? HUGE_VALF : 0.0f;
      if (phase.tile.empty()) continue;
      for (at_ = begin; at_ < end; at_ += kTile) {
        const int64_t n = std::min(kTile, end - at_);
        for (const int i : moving_) pointers_[size_t(i)] = bases_[size_t(i)] + at_;
        for (const Instruction& i : phase.tile) run(i, n);
      }
    }
  }

 private:
  const Tensor& input(int i) const { return launch_.inputs[size_t(i)]; }
  bool is_direct(int i) const { return input(i).dtype == DType::kF32 && rows_.step(i) == 1; }
  // Whether it lies in memory, tile after tile.
  bool moves(const RegionProgram::ValueInfo& v) const {
    return v.kept || (v.place == Place::kInput && is_direct(v.index)) || (v.place == Place::kOutput && !streams_);
  }

  // On one element, which is then spread over the tile.
  void run_once(const Instruction& i) {
    float* out = pointers_[size_t(i.out)];
    if (i.code == Code::kStore) return store(i, 1);
    if (i.code == Code::kLoad) {
      const int operand = p_.values()[size_t(i.out)].index;
      const int64_t offset = rows_.offset(operand, row_);
      if (filled_[size_t(operand)] == offset) return;
      filled_[size_t(operand)] = offset;
      read_run(input(operand), offset, 1, out, 1);
    } else if (i.code == Code::kFinish) {
      *out = accumulators_[size_t(i.operands[0])];
      if (i.reduction == Reduction::kMean) *out /= float(rows_.length());
      if (rows_.length() == 0 && i.reduction > Reduction::kMean) *out = 0;
      if (i.round_to != DType::kF32) round_to(i.round_to, out, 1);
    } else {
      run(i, 1);
    }
    if (i.spreads) std::fill_n(out, std::min(kTile, std::max<int64_t>(rows_.length(), 1)), *out);
  }

  void run(const Instruction& i, int64_t n) {
    const auto operand = [&](int k) { return pointers_[size_t(i.operands[size_t(k)])]; };
    float* out = pointers_[size_t(i.out)];
    switch (i.code) {
      case Code::kLoad: {
        const int k = p_.values()[size_t(i.out)].index;
        if (!is_direct(k)) read_run(input(k), rows_.offset(k, row_) + at_ * rows_.step(k), rows_.step(k), out, n);
        return;
      }
      case Code::kUnary: i.unary(operand(0), out, n); break;
      case Code::kBinary: i.binary(operand(0), operand(1), out, n); break;
      case Code::kPair: i.pair(operand(0), operand(1), operand(2), out, n); break;
      case Code::kSelect: {
        const float *c = operand(0), *a = operand(1), *b = operand(2);
        for (int64_t k = 0; k < n; ++k) out[k] = c[k] != 0 ? a[k] : b[k];
        break;
      }
      case Code::kCopy: {
        const float* x = operand(0);
        if (i.truncates) std::transform(x, x + n, out, [](float v) { return std::trunc(v); });
        else if (x != out) std::copy_n(x, n, out);
        break;
      }
      case Code::kReference: run_reference(i, n); return;
      case Code::kAccumulate:
        accumulators_[size_t(i.out)] = i.operands.size() == 2
                                           ? f_.accumulate_products(accumulators_[size_t(i.out)], operand(0), operand(1), n)
                                           : f_.accumulate(i.reduction, accumulators_[size_t(i.out)], operand(0), n);
        return;
      case Code::kStore: store(i, n); return;
      case Code::kFinish: return;
    }
    if (i.round_to != DType::kF32) round_to(i.round_to, out, n);
  }

  void store(const Instruction& i, int64_t n) {
    const int value = i.operands[0];
    const RegionProgram::ValueInfo& v = p_.values()[size_t(value)];
    const Tensor& out = launch_.outputs[size_t(i.out)];
    const int64_t element = v.place == Place::kRow ? row_ : row_ * rows_.length() + at_;
    if (v.place == Place::kOutput && v.index == i.out) {
      if (streams_) f_.stream(pointers_[size_t(value)], out.as<float>() + element, n);
      return;  // else it is there already
    }
    from_float(out.dtype, pointers_[size_t(value)], out.as<std::byte>() + element * info(out.dtype).block_bytes, n);
  }

  void run_reference(const Instruction& i, int64_t n) {
    std::vector<HostTensor> owners;
    std::vector<Tensor> operands;
    std::vector<TensorType> types;
    for (size_t k = 0; k < i.operands.size(); ++k) {
      types.push_back({i.node->input(int(k)).dtype(), {n}});
      owners.emplace_back(types.back().dtype, Sizes{n});
      from_float(types.back().dtype, pointers_[size_t(i.operands[k])], owners.back().view().data, n);
      operands.push_back(owners.back());
    }
    const HostTensor result(i.node->output().dtype(), Sizes{n});
    i.node->op().reference({i.node->op(), i.node->attributes(), types}, operands, std::span(&result.view(), 1));
    to_float(result.view().dtype, result.view().data, pointers_[size_t(i.out)], n);
  }

  const RegionProgram& p_;
  const Functions& f_;
  const Launch& launch_;
  const RegionRows& rows_;
  bool streams_;
  std::vector<float*> pointers_, bases_;  // of each value: at the tile, at the row
  std::vector<int> moving_;               // values that lie in memory, tile after tile
  std::vector<float> accumulators_;
  std::vector<int64_t> filled_;  // the offset whose element an operand's tile is filled with
  int64_t row_ = 0, at_ = 0;
};

class RegionKernel : public CpuKernel {
 public:
  RegionKernel(RegionBody body, const KernelRequest& request)
      : body_(std::move(body)), num_threads_(static_cast<CpuDevice&>(request.device).pool().size()), isa_(cpu_isa(request)),
        functions_(functions_of(isa_)), program_(body_.graph(), isa_) {
    const Shape domain = domain_of(body_.graph());
    by_rows_ = program_.has_reductions();
    for (const Value& in : body_.graph().leaves(Leaf::kInput))
      by_rows_ = by_rows_ || (is_per_row(in, domain) && in.shape().numel() != Dim(1));
    for (const Graph::Output& o : body_.graph().outputs()) by_rows_ = by_rows_ || is_per_row(o.value, domain);
  }

  size_t workspace_bytes(std::span<const Tensor> inputs, std::span<const Tensor>) const override {
    return size_t(num_threads_) * thread_floats(RegionRows(inputs, rank(inputs), by_rows_)) * sizeof(float);
  }

  void run(Team& team, const Launch& launch) const override {
    const RegionRows rows(launch.inputs, rank(launch.inputs), by_rows_);
    float* scratch = reinterpret_cast<float*>(launch.workspace) + size_t(team.rank()) * thread_floats(rows);
    int64_t result_bytes = 0;
    for (const Tensor& out : launch.outputs) result_bytes += out.bytes();
    const bool streams = result_bytes >= kStreamedBytes;
    Interpreter interpreter(program_, functions_, launch, rows, streams, scratch);
    const int64_t part = by_rows_ ? std::max<int64_t>(rows.length(), 1) : 8 * kTile;
    const int64_t parts = (std::max<int64_t>(rows.length(), by_rows_ ? 1 : 0) + part - 1) / part;
    const auto [begin, end] = team.share(rows.count() * parts);
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first = unit % parts * part;
      interpreter.run_row(unit / parts, first, std::min(first + part, rows.length()));
    }
    if (streams) std::atomic_thread_fence(std::memory_order_seq_cst);
  }

  std::string description() const override { return "region/tiles " + std::string(name(isa_)); }

 private:
  size_t thread_floats(const RegionRows& rows) const {
    const size_t kept = size_t(program_.num_kept()) * size_t(rows.length());
    return size_t(program_.num_tiles()) * kTile + (kept + 15) / 16 * 16;
  }
  static int rank(std::span<const Tensor> inputs) {
    int rank = 0;
    for (const Tensor& t : inputs) rank = std::max(rank, t.rank());
    return rank;
  }

  RegionBody body_;
  int num_threads_;
  CpuIsa isa_;
  Functions functions_;
  RegionProgram program_;
  bool by_rows_ = false;  // the last axis is a row, and nothing else may be
};

std::unique_ptr<Kernel> make_region(const KernelRequest& request) {
  return std::make_unique<RegionKernel>(request.call.as<Region>().body, request);
}

// The region that does nothing but the call; null when a region cannot.
std::optional<RegionBody> body_of(const OpCall& call) {
  Graph body(builtin_ops(), "body");
  std::vector<Value> operands;
  for (const TensorType& type : call.inputs) operands.push_back(body.input(std::to_string(operands.size()), type));
  const Value result = body.emit(call.op.name, call.attributes, operands);
  if (!is_region_op(*result.producer())) return std::nullopt;
  body.mark_output(result, "result");
  return RegionBody(std::move(body));
}

}  // namespace

void register_region_cpu(KernelRegistry& kernels) {
  kernels.add({.op = "region", .name = "tiles/cpu", .supports = supports_all, .make = make_region});
  // Single nodes of types that have no kernel of their own.
  const auto add = [&](std::string_view op) {
    kernels.add({.op = std::string(op),
                 .name = "region/cpu",
                 .supports = [](const KernelRequest& request) { return body_of(request.call).has_value(); },
                 .make = [](const KernelRequest& request) -> std::unique_ptr<Kernel> {
                   return std::make_unique<RegionKernel>(*body_of(request.call), request);
                 }});
  };
  for (const std::string_view op : kBinaryNames) add(op);
  for (const std::string_view op : kUnaryNames) add(op);
  for (const char* op : {"gelu", "cast", "where", "sum", "mean", "max", "min"}) add(op);
}

}  // namespace headrace
