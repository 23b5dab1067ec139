// A random graph in the making: values to choose from, and what they hold, for the graph is evaluated as it grows. So a logarithm gets
// positive numbers, nothing is exponentiated out of range, and sums stay of moderate size, but for the one time in many when it is wanted.
#pragma once

#include "random_graphs/evaluate.h"
#include "random_graphs/random.h"

namespace headrace::fuzzing {

class Maker {
 public:
  explicit Maker(uint64_t seed);

  Random random;
  Graph graph;
  SymbolValues symbols;
  uint64_t data_seed;

  // ---- choosing a value. Recent ones are likelier; when none will do, or now and then all the same, a new leaf is made.
  Value floats(int least_rank = 0);           // f32, f16 or bf16
  Value numbers();                            // floats or integers
  Value boolean(const Shape& shape);          // that broadcasts with `shape`
  Value like(Value x);                        // x's type
  Value beside(Value x);                      // a value that broadcasts with x, of any type that takes part in arithmetic
  Value within(double low, double high);      // floats whose every element is in the range
  Value parameter(DType dtype, Shape shape);  // a weight; block types where the last axis allows them
  Value weight(Dim out, Dim in);              // (out, in) of any type that linear takes
  Value input(const std::string& kind, DType dtype, Shape shape);  // `kind`: see leaf_data.h
  Value number(double value, DType dtype);                         // a constant of rank 0 or of one element
  Value leaf(DType dtype, Shape shape);                            // an input, a parameter or a constant

  // ---- choosing sizes and types
  Dim size();            // one of the graph's few
  int64_t fixed_size();  // one of those that are numbers
  Shape shape(int rank);
  DType float_type();
  DType number_type();
  int64_t axis(Value x);  // of x, from the front or from the back
  int64_t of(const Dim& dim) const { return dim.evaluate(symbols); }

  // What the value's elements are, as far as they are finite.
  struct Facts {
    double low = 0, high = 0;
    bool finite = true;
  };
  Facts facts(Value value);

  // Runs `add`, which emits what it likes; nodes that went wrong (too large, not finite) are taken back. False when nothing is left.
  template <typename Add>
  bool grow(Add&& add) {
    const int before = graph.num_nodes();
    try {
      add();
    } catch (const Error& e) {
      if (e.code != ErrorCode::kInvalidArgument) throw;
    }
    return settle(before);
  }

  // Names what the graph gives back: the last values, and some from within.
  void mark_outputs();

 private:
  bool settle(int nodes_before);
  bool acceptable(const Node& node, const std::vector<HostTensor>& results);
  template <typename Predicate>
  Value choose(const Predicate& fits);

  std::vector<Dim> sizes_;
  std::vector<Value> pool_;
  std::unordered_map<Value, HostTensor> held_;
  int num_leaves_ = 0;
};

}  // namespace headrace::fuzzing
