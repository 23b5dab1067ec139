// What observers know of the plan they look at.
#pragma once

#include "drawing/places.h"
#include "lowering/plan.h"

namespace headrace {

struct WatchedPlan {
  explicit WatchedPlan(const Plan& watched) : plan(watched) {
    const std::unordered_map<const Node*, NodePlace> places = node_places(plan.program());
    for (const Plan::Step& s : plan.steps()) {
      std::string types;
      for (const Value& v : s.node->outputs()) types += (types.empty() ? "" : ", ") + v.type().to_string();
      steps.push_back({s.node, s.op, s.kernel, places.at(s.node).path, types});
    }
  }
  struct Step {
    const Node* node;  // while the plan lives; what was found is told later, too
    std::string op, kernel;
    std::string path;   // its place in the model
    std::string types;  // of its results
  };
  const Plan& plan;
  std::vector<Step> steps;
};

}  // namespace headrace
