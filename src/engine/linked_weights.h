// Weights that an engine refers to instead of holding them.
#pragma once

#include <map>

#include "core/json.h"
#include "weights/weight_source.h"

namespace headrace {

struct WeightLink {
  StoredType type;
  FileRange range;
};

// The size of a file and a hash of its beginning, its end and 64 pages between them: tells a changed file from the one that was
// linked without reading gigabytes. "1234567-89abcdef01234567".
std::string file_fingerprint(const std::string& path);

// Reads the linked parts in place. Throws Error when a file is missing or shorter than a range.
std::shared_ptr<const WeightSource> linked_weights(std::map<std::string, WeightLink> links);

}  // namespace headrace
