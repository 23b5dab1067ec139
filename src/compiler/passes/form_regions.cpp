// What no kernel covers becomes regions: pointwise ops and last-axis reductions that read each other, as one node.
//
// A region grows from its last node to the producers of what it reads. A producer may have readers outside, if all of them stand behind
// the region's last node, where the region will stand: then nothing outside can depend on the region and be read by it.
#include <algorithm>
#include <unordered_set>

#include "compiler/passes/match.h"
#include "compiler/passes/passes.h"
#include "core/error.h"
#include "ops/region/region.h"

namespace headrace {
namespace {

constexpr size_t kMostNodes = 48, kMostOperands = 16;
constexpr int kMostReductions = 2;  // that depend on each other: a norm's, then a quantization's

// Ops with kernels of their own that regions spell out, rather than let a value go to memory before or after them.
bool is_spelt_out(const Node& node) {
  constexpr std::string_view kOps[] = {"rms_norm", "layer_norm", "softmax", "quantize", "dequantize"};
  return std::find(std::begin(kOps), std::end(kOps), node.op().name) != std::end(kOps);
}

// The node as a region's body has it: itself, or its decomposition.
std::vector<Value> emit_in(Graph& body, const Node& node, const std::vector<Value>& operands) {
  if (is_spelt_out(node)) return node.op().decompose(body, node, operands);
  return body.emit_all(node.op().name, node.attributes(), operands, node.where());
}

class RegionFormer {
 public:
  explicit RegionFormer(Graph& graph) : graph_(graph) {}

  void run() {
    std::vector<Node*> nodes = graph_.nodes();
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it)
      if (!taken_.count(*it) && can_be_inside(**it)) grow(**it);
  }

 private:
  bool can_be_inside(const Node& node) {
    if (node.outputs().size() != 1 || node.output().is_known_at_load()) return false;
    if (!is_spelt_out(node)) return is_region_op(node);
    Graph body(graph_.shared_ops(), "body");
    std::vector<Value> operands;
    for (const Value& in : node.inputs()) operands.push_back(body.input(std::to_string(operands.size()), in.type()));
    emit_in(body, node, operands);
    const std::vector<Node*> parts = body.nodes();
    return std::all_of(parts.begin(), parts.end(), [](const Node* part) { return is_region_op(*part); });
  }

  void grow(Node& last) {
    members_ = {&last};
    std::unordered_set<const Node*> refused;
    for (bool grown = true; grown;) {
      grown = false;
      for (Node* producer : producers()) {
        if (taken_.count(producer) || refused.count(producer) || !stands_before_readers(*producer, last)) continue;
        members_.push_back(producer);
        if (can_be_inside(*producer) && build()) {
          grown = true;  // a reader of others may be a member now: they are looked at again
        } else {
          members_.pop_back();
          refused.insert(producer);
        }
      }
    }
    if (members_.size() < 2 || !build()) return;
    replace(last);
  }

  // Of what the members read.
  std::vector<Node*> producers() const {
    std::vector<Node*> found;
    for (const Node* member : members_)
      for (const Value& in : member->inputs())
        if (Node* p = in.producer(); p && !is_member(p) && std::find(found.begin(), found.end(), p) == found.end()) found.push_back(p);
    return found;
  }
  bool is_member(const Node* node) const { return std::find(members_.begin(), members_.end(), node) != members_.end(); }

  bool stands_before_readers(const Node& node, const Node& last) const {
    const std::vector<Node*>& users = node.output().users();
    return std::all_of(users.begin(), users.end(), [&](const Node* user) { return is_member(user) || graph_.is_before(last, *user); });
  }

  // The body of the members, if a region can have it.
  bool build() {
    if (members_.size() > kMostNodes) return false;
    std::vector<Node*> ordered = members_;
    std::sort(ordered.begin(), ordered.end(), [&](const Node* a, const Node* b) { return graph_.is_before(*a, *b); });
    Graph body(graph_.shared_ops(), "body");
    std::unordered_map<Value, Value> image;
    operands_.clear(), results_.clear();
    for (const Node* node : ordered)  // leaves first: nodes take the names that these leave
      for (const Value& in : node->inputs()) {
        if (image.count(in) || is_member(in.producer())) continue;
        if (in.leaf() == Leaf::kConstant && in.constant().view().numel() == 1) {
          image[in] = body.constant(in.constant(), in.name());
        } else {
          image[in] = body.input(in.name(), in.type());
          operands_.push_back(in);
        }
      }
    for (const Node* node : ordered) {
      std::vector<Value> inputs;
      for (const Value& in : node->inputs()) inputs.push_back(image.at(in));
      image[node->output()] = emit_in(body, *node, inputs)[0];
    }
    for (const Node* node : ordered) {
      const Value out = node->output();
      const bool wanted =
          out.is_output() || std::any_of(out.users().begin(), out.users().end(), [&](const Node* u) { return !is_member(u); });
      if (!wanted) continue;
      body.mark_output(image.at(out), out.name());
      results_.push_back(out);
    }
    if (operands_.empty() || operands_.size() > kMostOperands) return false;
    try {
      if (!is_worthwhile(body)) return false;
      body_ = RegionBody(std::move(body));
    } catch (const Error&) {  // shapes that do not go together in one region
      return false;
    }
    return true;
  }

  // Every value is one per element or one per row of the domain: what is smaller would be computed again and again.
  bool is_worthwhile(const Graph& body) const {
    const Shape domain = domain_of(body);
    std::unordered_map<Value, int> depth;
    for (const Node* node : body.nodes()) {
      const Value out = node->output();
      if (out.shape() != domain && !(is_per_row(out, domain) && (out.shape().rank() == domain.rank() || out.shape().numel() == Dim(1))))
        return false;
      int& at = depth[out];
      for (const Value& in : node->inputs()) at = std::max(at, depth[in]);
      at += node->op().pointwise ? 0 : 1;
      if (at > kMostReductions) return false;
    }
    return true;
  }

  void replace(Node& last) {
    graph_.insert_before(&last);
    const std::vector<Value> made = graph_.emit_all("region", Region{*body_}, operands_, last.where());
    graph_.insert_before(nullptr);
    std::vector<std::string> names;
    for (size_t i = 0; i < results_.size(); ++i) {
      names.push_back(results_[i].name());
      graph_.replace_all_uses(results_[i], made[i], [&](const Node& reader) { return is_member(&reader); });
    }
    std::sort(members_.begin(), members_.end(), [&](const Node* a, const Node* b) { return graph_.is_before(*b, *a); });
    for (Node* member : members_) {
      taken_.insert(member);
      graph_.erase(*member);
    }
    for (size_t i = 0; i < made.size(); ++i) graph_.rename(made[i], names[i]);
    taken_.insert(made[0].producer());
  }

  Graph& graph_;
  std::unordered_set<const Node*> taken_;  // regions, and nodes that are no more
  // Of the region that grows:
  std::vector<Node*> members_;
  std::vector<Value> operands_, results_;  // what it reads, what others read of it
  std::optional<RegionBody> body_;
};

}  // namespace

void form_regions(Graph& graph, const CompileOptions&) { RegionFormer(graph).run(); }

}  // namespace headrace
