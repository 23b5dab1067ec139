#include "ops/region/region_program.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/blocks.h"
#include "ops/compare/compare.h"

namespace headrace {

class RegionProgram::Builder {
 public:
  Builder(const Graph& body, CpuIsa isa, RegionProgram& program) : body_(body), isa_(isa), domain_(domain_of(body)), p_(program) {
    number_values();
    find_levels();
    place_values();
    for (const Value& in : body_.leaves(Leaf::kInput))
      if (info(in).place == Place::kRow) p_.phases_[0].once.push_back({.code = Code::kLoad, .out = ids_.at(in)});
    for (const Node* node : body_.nodes()) add(*node);
    for (Phase& phase : p_.phases_) join_pairs(phase);
    mark_spreading();
    for (Phase& phase : p_.phases_) give_tiles(phase);
  }

 private:
  ValueInfo& info(Value v) { return p_.values_[size_t(ids_.at(v))]; }
  int level(Value v) const { return levels_.at(v); }
  // A reduction's result is one per row also where rows have one element.
  bool is_per_row(Value v) const { return headrace::is_per_row(v, domain_) || (v.producer() && !v.producer()->op().pointwise); }
  Instruction instruction(Code code, const Node& node) {
    Instruction made{.code = code, .out = ids_.at(node.output())};
    for (const Value& in : node.inputs()) made.operands.push_back(ids_.at(in));
    return made;
  }

  void number_values() {
    const auto number = [&](Value v) {
      ids_[v] = int(p_.values_.size());
      p_.values_.emplace_back();
    };
    for (const Leaf kind : {Leaf::kInput, Leaf::kConstant})
      for (const Value& v : body_.leaves(kind)) number(v);
    for (const Node* node : body_.nodes()) number(node->output());
    for (const Value& in : body_.leaves(Leaf::kInput)) p_.inputs_.push_back(ids_.at(in));
    for (const Graph::Output& o : body_.outputs()) p_.outputs_.push_back(ids_.at(o.value));
  }

  // In which phase a value can be computed: reductions are known one phase after what they reduce.
  void find_levels() {
    for (const auto& [v, id] : ids_)
      if (!v.producer()) levels_[v] = 0;
    int last = 0;
    for (const Node* node : body_.nodes()) {
      int at = 0;
      for (const Value& in : node->inputs()) at = std::max(at, level(in));
      levels_[node->output()] = at + (node->op().pointwise ? 0 : 1);
      last = std::max(last, level(node->output()));
    }
    p_.phases_.resize(size_t(last) + 1);
  }

  void place_values() {
    const std::vector<Value> inputs = body_.leaves(Leaf::kInput);
    for (size_t i = 0; i < inputs.size(); ++i)
      info(inputs[i]) = {.place = is_per_row(inputs[i]) ? Place::kRow : Place::kInput, .index = int(i), .tile = p_.num_tiles_++};
    for (const Value& c : body_.leaves(Leaf::kConstant)) {
      float value = 0;
      to_float(c.dtype(), c.constant().view().data, &value, 1);
      info(c) = {.place = Place::kRow, .tile = p_.num_tiles_++, .constant = value};
    }
    for (const Node* node : body_.nodes()) {
      const Value v = node->output();
      if (is_per_row(v)) info(v) = {.place = Place::kRow, .tile = p_.num_tiles_++};
      else
        info(v).kept = std::any_of(v.users().begin(), v.users().end(),
                                   [&](const Node* user) { return user->op().pointwise && level(user->output()) > level(v); });
    }
    for (size_t i = 0; i < body_.outputs().size(); ++i) {
      const Value v = body_.outputs()[i].value;
      if (info(v).place == Place::kTile && v.dtype() == DType::kF32)
        info(v).place = Place::kOutput, info(v).index = int(i), info(v).tile = p_.num_tiles_++;
    }
    for (ValueInfo& v : p_.values_) {
      if (v.kept) v.row = p_.num_kept_++;
      if (v.place == Place::kTile && v.kept) v.place = Place::kKept;
    }
    pool_ = p_.num_tiles_;
  }

  void add(const Node& node) {
    const Value out = node.output();
    if (!node.op().pointwise) return add_reduction(node);
    Phase& phase = p_.phases_[size_t(level(out))];
    std::vector<Instruction>& list = is_per_row(out) ? phase.once : phase.tile;
    load_operands(node, level(out));
    list.push_back(compute(node));
    for (size_t i = 0; i < body_.outputs().size(); ++i)
      if (body_.outputs()[i].value == out) list.push_back({.code = Code::kStore, .out = int(i), .operands = {ids_.at(out)}});
  }

  void add_reduction(const Node& node) {
    const int at = level(node.input(0)), accumulator = p_.num_accumulators_++;
    const auto reduction = Reduction(std::find(std::begin(kReductionNames), std::end(kReductionNames), node.op().name) - kReductionNames);
    load_operands(node, at);
    p_.phases_[size_t(at)].tile.push_back(
        {.code = Code::kAccumulate, .out = accumulator, .operands = {ids_.at(node.input(0))}, .reduction = reduction});
    std::vector<Instruction>& next = p_.phases_[size_t(at) + 1].once;
    next.push_back({.code = Code::kFinish,
                    .out = ids_.at(node.output()),
                    .operands = {accumulator},
                    .round_to = node.output().dtype(),
                    .reduction = reduction});
    for (size_t i = 0; i < body_.outputs().size(); ++i)
      if (body_.outputs()[i].value == node.output())
        next.push_back({.code = Code::kStore, .out = int(i), .operands = {ids_.at(node.output())}});
  }

  // Each phase reads the operands' elements anew: they are in a cache, if not where they were.
  void load_operands(const Node& node, int phase) {
    for (const Value& in : node.inputs()) {
      const int id = ids_.at(in);
      if (info(in).place == Place::kInput && loaded_.insert({phase, id}).second)
        p_.phases_[size_t(phase)].tile.push_back({.code = Code::kLoad, .out = id});
    }
  }

  Instruction compute(const Node& node) {
    const std::string& op = node.op().name;
    const auto named = [&](const auto& names) { return std::find(std::begin(names), std::end(names), op) != std::end(names); };
    Instruction made = instruction(Code::kReference, node);
    made.round_to = node.output().dtype();
    if (op == "cast") {
      made.code = Code::kCopy;
      made.truncates = is_integer(made.round_to);
    } else if (op == "where") {
      made.code = Code::kSelect;
    } else if (named(kBinaryNames)) {
      made.code = Code::kBinary;
      made.binary = binary_run(node.op(), isa_);
      made.function = BinaryFunction(std::find(std::begin(kBinaryNames), std::end(kBinaryNames), op) - kBinaryNames);
    } else if (named(kComparisonNames)) {
      made.code = Code::kBinary;
      made.binary = compare_run(node.op());
    } else if (named(kUnaryNames) || op == "gelu") {
      made.code = Code::kUnary;
      made.unary = unary_run(node.op(), node.attributes(), isa_);
      if (op == "square") made.function = BinaryFunction::kMul;
    } else {
      made.node = &node;
    }
    return made;
  }

  // A function whose only reader is another one's, or a sum: both in one go through the tiles.
  void join_pairs(Phase& phase) {
    std::vector<Instruction>& list = phase.tile;
    std::unordered_map<int, int> readers;
    for (const Instruction& i : list)
      for (const int v : i.operands) ++readers[v];
    for (size_t at = 0; at < list.size(); ++at) {
      Instruction& outer = list[at];
      const bool sums = outer.code == Code::kAccumulate && outer.reduction <= Reduction::kMean && outer.operands.size() == 1;
      if (!sums && !(outer.code == Code::kBinary && outer.function && outer.round_to == DType::kF32)) continue;
      for (size_t side = 0; side < outer.operands.size(); ++side) {
        const int value = outer.operands[side];
        const auto inner = std::find_if(list.begin(), list.begin() + int64_t(at), [&](const Instruction& i) {
          return i.code != Code::kStore && i.code != Code::kAccumulate && i.code != Code::kLoad && i.out == value;
        });
        if (inner == list.begin() + int64_t(at) || p_.values_[size_t(value)].place != Place::kTile || readers[value] != 1) continue;
        if (!inner->function || inner->round_to != DType::kF32) continue;
        std::vector<int> operands = inner->operands;
        if (operands.size() == 1) operands.push_back(operands[0]);  // a square
        if (sums) {
          if (inner->function != BinaryFunction::kMul) continue;
        } else {
          const PairRun pair = pair_run(*inner->function, *outer.function, side == 1, isa_);
          if (!pair) continue;
          operands.push_back(outer.operands[1 - side]);
          outer.code = Code::kPair, outer.pair = pair, outer.function.reset();
        }
        outer.operands = std::move(operands);
        list.erase(inner);
        --at;
        break;
      }
    }
  }

  // What is computed once per row is spread over a tile if instructions on tiles read it.
  void mark_spreading() {
    std::set<int> read;
    for (const Phase& phase : p_.phases_)
      for (const Instruction& i : phase.tile) read.insert(i.operands.begin(), i.operands.end());
    for (Phase& phase : p_.phases_)
      for (Instruction& i : phase.once) i.spreads = i.code != Code::kStore && read.count(i.out) > 0;
  }

  // Values within a phase share tiles: one is free again after its last reader.
  void give_tiles(Phase& phase) {
    std::unordered_map<int, size_t> last_use;
    for (size_t i = 0; i < phase.tile.size(); ++i)
      for (const int v : phase.tile[i].operands) last_use[v] = i;
    std::vector<int> free;
    int used = 0;
    for (size_t i = 0; i < phase.tile.size(); ++i) {
      const Instruction& made = phase.tile[i];
      const auto is_shared = [&](int v) { return p_.values_[size_t(v)].place == Place::kTile; };
      std::vector<int> operands = made.operands;
      std::sort(operands.begin(), operands.end());
      operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
      for (const int v : operands)
        if (is_shared(v) && last_use.at(v) == i) free.push_back(p_.values_[size_t(v)].tile);
      if (made.code == Code::kAccumulate || made.code == Code::kStore || !is_shared(made.out)) continue;
      if (free.empty()) free.push_back(pool_ + used++);
      p_.values_[size_t(made.out)].tile = free.back();
      if (last_use.count(made.out)) free.pop_back();
    }
    p_.num_tiles_ = std::max(p_.num_tiles_, pool_ + used);
  }

  const Graph& body_;
  CpuIsa isa_;
  Shape domain_;
  RegionProgram& p_;
  std::unordered_map<Value, int> ids_, levels_;
  std::set<std::pair<int, int>> loaded_;  // phase and value
  int pool_ = 0;                          // the first tile that values share
};

RegionProgram::RegionProgram(const Graph& body, CpuIsa isa) { Builder(body, isa, *this); }

}  // namespace headrace
