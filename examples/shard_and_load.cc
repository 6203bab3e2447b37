// Splits a checkpoint over simulated devices by rules, shows the plan, loads it, and shows what each device holds:
//   shard_and_load PATH
#include <cstdio>

#include "shardwise/shardwise.h"

using namespace shardwise;

namespace {

// Two rules in the words of keras.distribution: split kernels by columns, embeddings by rows; the rest is on every
// device.
LayoutMap rules(const DeviceMesh& mesh) {
  LayoutMap layouts(mesh, {.uneven = Uneven::kReplicate});
  layouts.set(".*kernel", {std::nullopt, "model"});
  layouts.set(".*embeddings?", {"model", std::nullopt});
  return layouts;
}

Status run(const char* path) {
  const DeviceMesh mesh({4}, {"model"}, host_devices(4, {.memory = 1_GiB}));
  SHARDWISE_ASSIGN_OR_RETURN(const Catalog checkpoint, open_checkpoint(path));
  SHARDWISE_ASSIGN_OR_RETURN(const LoadPlan plan,
                             make_plan(bind(checkpoint, ModelParallel(rules(mesh))), {.staging = 16_MiB}));
  std::printf("%s\n", to_string(plan).c_str());
  SHARDWISE_RETURN_IF_ERROR(check_fits(plan));

  SHARDWISE_ASSIGN_OR_RETURN(const Loaded loaded, load(plan));
  for (const ShardedArray& array : loaded) {
    const Placement& placement = array.placement();
    std::printf("%s: %zu parts of %s, %zu of each\n", array.name().c_str(), placement.boxes.size(),
                to_string(placement.shard_shape).c_str(), placement.replicas());
  }
  for (const MeshDevice& device : mesh.devices()) {
    std::printf("%s holds %s\n", device.info.id.c_str(), format_bytes(device.device->memory().in_use).c_str());
  }
  return {};  // the arrays, and with them the devices' memory, go here
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: shard_and_load PATH\n");
    return 2;
  }
  const Status status = run(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
