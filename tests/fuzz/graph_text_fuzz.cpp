// Any text is a graph, which prints to a text that parses back to itself and can be copied and checked, or an Error.
#include <cstdlib>

#include "core/error.h"
#include "headrace/functional.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace headrace;
  try {
    Graph graph = Graph::parse({reinterpret_cast<const char*>(data), size}, builtin_ops());
    const std::string text = graph.to_text();
    if (Graph::parse(text, builtin_ops()).to_text() != text) std::abort();
    graph.verify();
    graph.clone().verify();
    graph.remove_dead();
    graph.verify();
  } catch (const Error& e) {
    if (e.code == ErrorCode::kInternal) std::abort();
  }
  return 0;
}
