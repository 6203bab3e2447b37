#include "base/format.h"
#include "mesh/auto_layout.h"
#include "mesh/python_text.h"
#include "shardwise/layout.h"

namespace shardwise {
namespace {

std::string first_axis(const DeviceMesh& mesh) {
  return mesh.axis_names().empty() ? std::string() : mesh.axis_names().front();
}

TensorLayout replicated(std::size_t rank) { return TensorLayout(std::vector<Axis>(rank)); }

}  // namespace

Status Distribution::status() const {
  if (!mesh_->status().ok()) return mesh_->status();
  if (rules_) SHARDWISE_RETURN_IF_ERROR(rules_->status());
  return problem_;
}

Result<Distribution::Choice> Distribution::variable_layout(const std::string& path, const Shape& shape,
                                                           DType dtype) const {
  SHARDWISE_RETURN_IF_ERROR(status());
  if (kind_ == Kind::kAuto) {
    SHARDWISE_ASSIGN_OR_RETURN(TensorLayout layout, auto_layout(*auto_, shape, dtype));
    return Choice{std::move(layout), std::nullopt};
  }
  if (!rules_) return Choice{replicated(shape.size()), std::nullopt};
  SHARDWISE_ASSIGN_OR_RETURN(const auto rule, rules_->find_rule(path));
  if (!rule) return Choice{replicated(shape.size()), std::nullopt};
  return Choice{rules_->rules()[*rule].layout, rule};
}

TensorLayout Distribution::data_layout(std::size_t rank) const {
  TensorLayout layout = replicated(rank);
  if (rank > 0) layout.axes[0] = batch_axis_;
  return layout;
}

Uneven Distribution::uneven() const { return rules_ ? rules_->options().uneven : Uneven::kRefuse; }

DataParallel::DataParallel(DeviceMesh mesh) : Distribution(Kind::kDataParallel, std::move(mesh)) {
  batch_axis_ = first_axis(*mesh_);
}

ModelParallel::ModelParallel(LayoutMap layout_map, std::string batch_dim_name)
    : Distribution(Kind::kModelParallel, layout_map.mesh()) {
  batch_axis_ = batch_dim_name.empty() ? first_axis(*mesh_) : std::move(batch_dim_name);
  rules_ = std::move(layout_map);
  if (mesh_->status().ok() && mesh_->axis_index(batch_axis_) < 0) {
    problem_ = invalid_argument("batch_dim_name {} is not an axis of {}", python_repr(batch_axis_), mesh_->to_string());
  }
}

AutoParallel::AutoParallel(DeviceMesh mesh, std::uint64_t min_bytes) : Distribution(Kind::kAuto, std::move(mesh)) {
  batch_axis_ = first_axis(*mesh_);
  auto_ = std::make_shared<const AutoRule>(make_auto_rule(*mesh_, min_bytes));
}

}  // namespace shardwise
