// A region's body as instructions for the CPU's interpreter. Values are fp32; what one stores in another type is rounded to it.
//
// The interpreter goes through the domain row by row (a row: the last axis), and through a row tile by tile. A reduction is complete
// only when the whole row has been seen, so the instructions stand in phases: phase 0 computes what depends on no reduction, phase 1
// what depends on those of phase 0, and so on. Each phase begins with what is computed once per row.
#pragma once

#include <vector>

#include "device/cpu/cpu_features.h"
#include "ops/binary/binary.h"
#include "ops/reduce/reduce.h"
#include "ops/region/pairs.h"
#include "ops/region/region.h"
#include "ops/unary/unary.h"

namespace headrace {

class RegionProgram {
 public:
  RegionProgram(const Graph& body, CpuIsa isa);

  // Where a value is while a row is processed.
  enum class Place {
    kInput,   // in an operand's memory, when that is f32 and dense along the row; else in its tile, after kLoad
    kRow,     // one per row: in its tile, broadcast
    kTile,    // in a tile, within one phase
    kKept,    // in a buffer that holds a whole row, for later phases
    kOutput,  // in a result's memory; or in its tile or row buffer until kStore, when results are written past the caches
  };
  struct ValueInfo {
    Place place = Place::kTile;
    int index = 0;      // of the operand (kInput) or the result (kOutput)
    int tile = -1;      // the one it has or may need
    bool kept = false;  // later phases read it
    int row = -1;       // the row buffer it has (kKept), or may need (kOutput that is kept)
    std::optional<float> constant;
  };

  enum class Code {
    kLoad,  // an operand's elements into its tile
    kUnary,
    kBinary,
    kPair,    // two binary functions of three operands
    kSelect,  // operands: condition, then, else
    kCopy,
    kReference,   // by the op's reference: right, and slow
    kAccumulate,  // an operand's elements, or two operands' products, into an accumulator
    kFinish,      // an accumulator's result, once per row
    kStore,       // a value to a result's memory
  };
  struct Instruction {
    Code code;
    int out = 0;                // a value; of kAccumulate an accumulator, of kStore a result
    std::vector<int> operands;  // values; of kFinish an accumulator
    UnaryRun unary = nullptr;
    BinaryRun binary = nullptr;
    PairRun pair = nullptr;
    std::optional<BinaryFunction> function;  // kBinary, and a square: of operand 0 with operand 1 or itself
    bool truncates = false;                  // kCopy: towards zero
    DType round_to = DType::kF32;            // what the result is rounded to; f32: not
    Reduction reduction = Reduction::kSum;   // kAccumulate, kFinish
    const Node* node = nullptr;              // kReference: of the body
    bool spreads = true;                     // of `once`: instructions on tiles read the result
  };
  struct Phase {
    std::vector<Instruction> once;  // for each row, on one element
    std::vector<Instruction> tile;  // for each tile of a row
  };

  const std::vector<Phase>& phases() const { return phases_; }
  const std::vector<ValueInfo>& values() const { return values_; }
  const std::vector<int>& inputs() const { return inputs_; }    // the body's inputs, as values
  const std::vector<int>& outputs() const { return outputs_; }  // the body's results, as values
  bool has_reductions() const { return num_accumulators_ > 0; }
  int num_accumulators() const { return num_accumulators_; }
  int num_tiles() const { return num_tiles_; }
  int num_kept() const { return num_kept_; }

 private:
  class Builder;

  std::vector<Phase> phases_;
  std::vector<ValueInfo> values_;
  std::vector<int> inputs_, outputs_;
  int num_accumulators_ = 0, num_tiles_ = 0, num_kept_ = 0;
};

}  // namespace headrace
