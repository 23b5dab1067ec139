#include <filesystem>

#include "core/error.h"
#include "core/new_file.h"
#include "headrace/debug.h"
#include "headrace/graph.h"

namespace headrace {

std::function<void(const std::string&, const Graph&, double)> pass_writer(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) invalid("{}: cannot be made: {}", directory, error.message());
  return [directory, count = 0](const std::string& pass, const Graph& graph, double) mutable {
    const std::string text = graph.to_text();
    NewFile file(fmt::format("{}/{:02}-{}.txt", directory, ++count, pass));
    file.append(std::as_bytes(std::span(text)));
    file.commit();
  };
}

}  // namespace headrace
