// Variables set by a template: a scope per loop iteration, macro call and block, each over the one where its text stands.
#pragma once

#include "jinja/objects.h"

namespace headrace::jinja {

class Scope : public Object {
 public:
  explicit Scope(Ref<Scope> parent) : parent_(std::move(parent)) {}
  void clear() override {
    variables_.clear();
    parent_ = {};
  }

  // Forgets all variables; those named are missing until they are set, whatever the context holds.
  void reset(const std::vector<int>& unset) {
    variables_.clear();
    for (const int name : unset) variables_.emplace_back(name, Value());
  }
  // Here or in a scope beneath: its value, which may be missing; nullptr when it is set nowhere.
  const Value* find(int name) const {
    for (const Scope* scope = this; scope; scope = scope->parent_.get())
      for (const auto& [other, value] : scope->variables_)
        if (other == name) return &value;
    return nullptr;
  }
  void set(int name, Value value) {
    for (auto& [other, old] : variables_)
      if (other == name) return void(old = std::move(value));
    variables_.emplace_back(name, std::move(value));
  }

 private:
  Ref<Scope> parent_;
  std::vector<std::pair<int, Value>> variables_;
};

}  // namespace headrace::jinja
