// Exchanges between the ranks that run one model together, each its part. Every rank's program has the same ones in the same order.
#pragma once

#include "comm/reduce_ranks.h"
#include "ops/kernel.h"

namespace headrace {

// `ranks`: how many take part. Programs know it, for sizes follow from it; it must be the Communicator's.
struct AllReduce {
  int ranks = 1;
  RankReduction reduction = RankReduction::kSum;
  void fields(auto&& f) { f("ranks", ranks), f("reduction", reduction); }
};

struct AllGather {
  int ranks = 1;
  int64_t axis = 0;
  void fields(auto&& f) { f("ranks", ranks), f("axis", axis); }
};

struct ReduceScatter {
  int ranks = 1;
  int64_t axis = 0;
  RankReduction reduction = RankReduction::kSum;
  void fields(auto&& f) { f("ranks", ranks), f("axis", axis), f("reduction", reduction); }
};

struct Send {
  int peer = 0;  // a rank
  void fields(auto&& f) { f("peer", peer); }
};

struct Recv {
  int peer = 0;
  DType dtype = DType::kF32;
  Shape shape;
  void fields(auto&& f) { f("peer", peer), f("dtype", dtype), f("shape", shape); }
};

// all_reduce(x) -> x's type: the reduction of every rank's x.
// all_gather(x) -> every rank's x, joined along `axis` in the order of ranks: `ranks` times as long there.
// reduce_scatter(x) -> this rank's part, of `ranks` equal ones along `axis`, of the reduction of every rank's x.
// send(x) -> x, which has been sent to a rank. recv() -> what that rank has sent: its type must be as said.
// The references are those of one rank: copies. With more, a communicator is wanted (SessionOptions::communicator).
void register_collectives(OpRegistry& ops);
void register_collectives_cpu(KernelRegistry& kernels);

}  // namespace headrace
