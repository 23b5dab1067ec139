// Ranks: threads, processes or devices that compute one thing together, and exchange tensors to do so. Each has its Communicator.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "headrace/types.h"

namespace headrace {

// How the ranks' values for one element become one. Floats are summed in fp32, in the order of ranks, so that every rank gets the same
// bits.
enum class RankReduction { kSum, kMean, kMax, kMin };

// One rank's end. All ranks make the same calls in the same order; a call returns when this rank's part is done. Tensors are contiguous
// and in memory of the rank's device; where input and output have one size they may be the same memory. Not thread-safe.
// When ranks' calls do not fit together (another call, type or size), or a rank has failed or gone, every rank that waits or calls later
// gets an Error that says so.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  virtual void all_reduce(const Tensor& input, const Tensor& output, RankReduction reduction) = 0;
  // output (size, input...): the inputs of all ranks, in order.
  virtual void all_gather(const Tensor& input, const Tensor& output) = 0;
  // input (size, output...): rank r gets the reduction of everybody's part r.
  virtual void reduce_scatter(const Tensor& input, const Tensor& output, RankReduction reduction) = 0;
  // To and from one other rank; what one rank sends another arrives in order. A send does not wait for its recv.
  virtual void send(const Tensor& input, int peer) = 0;
  virtual void recv(const Tensor& output, int peer) = 0;
  virtual void barrier() = 0;
  // This rank has failed and will make no more calls: the others get an Error with the reason instead of waiting.
  virtual void abort(const std::string& reason) = 0;
};

// The ends of `size` ranks that are threads of this process, by rank. An end that is destroyed while others wait for it is a rank that has
// gone. Throws Error(kInvalidArgument) when size is below 1.
std::vector<std::shared_ptr<Communicator>> local_communicators(int size);

}  // namespace headrace
