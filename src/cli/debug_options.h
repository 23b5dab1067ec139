// What the verbs that run a model offer for looking into it.
#pragma once

#include "cli/options.h"
#include "headrace/debug.h"
#include "headrace/executor.h"

namespace headrace::cli {

struct DebugSettings {
  std::vector<std::string> marks, skip_passes;
  std::string dump_passes, dump, trace;
  bool check = false, profile = false;
};

// --mark, --debug-dump, --check, and what the other two declare.
void declare_debug(Options& options, DebugSettings& debug);
// --profile, --trace.
void declare_profile(Options& options, DebugSettings& debug);
// --skip-pass, --dump-passes.
void declare_passes(Options& options, DebugSettings& debug);

// What was asked for, into what models are loaded with: before each load, for a Debugger looks into one.
void apply(const DebugSettings& debug, LoadOptions& load);
// To standard error what was found, to a file the trace. The exit code: 1 when a kernel was beyond its bound.
int report(const DebugSettings& debug, const LoadOptions& load);

}  // namespace headrace::cli
