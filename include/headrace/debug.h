// Looking into the runs of a model or a Session: inner values, every kernel beside its reference, time and bytes of every op.
// docs/debugging.md shows it at work. Where nobody looks, it costs nothing.
//
//   auto debugger = std::make_shared<Debugger>(DebugOptions{.profile = true});
//   LLM llm("SmolLM2-135M-Instruct", {.debugger = debugger});   // or Session(graph, weights, {.debugger = debugger})
//   llm.generate("The capital of France is");
//   std::cout << to_text(debugger->profile());
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headrace/types.h"

namespace headrace {

class Graph;
class Plan;
class WeightSource;

// What one run of a program was given and what it returned: its outputs, marked values (CompileOptions::marks) among them.
struct RunValues {
  struct Value {
    std::string name;
    Tensor tensor;  // any strides; valid during the call
  };
  int64_t run = 0;    // counted from 0
  std::string phase;  // of a language model "prefill" or "decode", else "run"
  std::vector<Value> inputs, outputs;
};

struct DebugOptions {
  // Called after each run, on the thread that ran it.
  std::function<void(const RunValues&)> on_run;
  // A folder, made if there is none, into which each run is written: RUN/NAME.npy for inputs and outputs, and manifest.json, which lists
  // them. float16 is written as such, bfloat16 and block types as float32. Empty: nothing is written.
  std::string dump_directory;
  bool dump_steps = false;  // what each step of the plan computes as well, named by its place in the model
  bool check = false;       // each kernel runs beside its op's reference: slow
  bool profile = false;     // time and bytes of each step
};

// How far a kernel's results were from its reference's, at worst.
struct KernelCheck {
  std::string kernel;
  std::string value;  // where it was worst: the step's place in the model
  int64_t calls = 0;
  double absolute = 0;  // the largest difference
  double relative =
      0;             // the largest difference, by the largest magnitude in the same result; infinite where one is NaN and the other is not
  double bound = 0;  // what `relative` may be for this kernel's arithmetic
  bool fits() const { return relative <= bound; }
};

struct Profile {
  struct Kernel {
    std::string name;
    int64_t calls = 0;
    double seconds = 0;
    int64_t bytes = 0;  // read and written: weights, operands, results, and what is touched of caches
  };
  struct Phase {
    std::string name;
    int64_t runs = 0;
    double seconds = 0;           // from the first step's begin to the last one's end
    std::vector<Kernel> kernels;  // the most expensive first
  };
  std::vector<Phase> phases;
  double read_gb_per_s = 0;  // what this machine reads from memory at most, measured when the model was loaded; 0: unknown
};

// Tables for people.
std::string to_text(std::span<const KernelCheck> checks);
std::string to_text(const Profile& profile);

// Looks into one model or Session. Results may be asked for at any time, from any thread; they are of the runs that have ended.
class Debugger {
 public:
  // Throws Error(kInvalidArgument) when the dump's folder cannot be made or holds a dump already.
  explicit Debugger(DebugOptions options);
  ~Debugger();

  const DebugOptions& options() const;
  std::vector<KernelCheck> checks() const;  // one for each kernel, the worst by its bound first
  Profile profile() const;
  // The steps of all runs (the first two million) in Chrome's trace format, which Perfetto and chrome://tracing show.
  void write_trace(const std::string& path) const;

  // For those who run plans. `weights` are the plan's, as stored; `exact`: products are. Another plan in the first one's place (after a
  // refit) begins checks and profile anew.
  void watch(Plan& plan, std::shared_ptr<const WeightSource> weights, bool exact);
  void name_next_run(const std::string& phase);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Writes the graph into `directory`, made if there is none, after each pass: "02-canonicalize.txt". For CompileOptions::observer.
std::function<void(const std::string& pass, const Graph& graph, double milliseconds)> pass_writer(const std::string& directory);

}  // namespace headrace
