// Opens a checkpoint, plans and loads it on 8 host devices, and prints each device's first bytes of the first tensor.
#include <shardwise/shardwise.h>

#include <cstdio>

using namespace shardwise;

int main(int, char** argv) {
  const DeviceMesh mesh({8}, {"model"}, host_devices(8, {.memory = 1_MiB}));
  LayoutMap layouts(mesh);
  layouts.set("w", {"model", std::nullopt});
  const auto checkpoint = open_checkpoint(argv[1]);
  if (!checkpoint.ok()) {
    std::puts(checkpoint.status().to_string().c_str());
    return 1;
  }
  const auto plan = make_plan(bind(*checkpoint, ModelParallel(layouts)), {.staging = 8_MiB});
  const auto loaded = plan.ok() ? load(*plan, {.threads = 2}) : Result<Loaded>(plan.status());
  if (!loaded.ok()) {
    std::puts(loaded.status().to_string().c_str());
    return 1;
  }
  for (std::size_t device = 0; device < mesh.size(); ++device) {
    const auto& buffer = loaded->arrays.front().buffers()[device];
    std::printf("%s: %llu bytes, first %d\n", mesh.devices()[device].info.id.c_str(),
                static_cast<unsigned long long>(buffer->size()), static_cast<int>(*buffer->host_data()));
  }
  return 0;
}
