// Lists what a checkpoint holds, without reading its tensors:  inspect PATH
#include <cstdio>

#include "shardwise/shardwise.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: inspect PATH\n");
    return 2;
  }
  const auto checkpoint = shardwise::open_checkpoint(argv[1]);
  if (!checkpoint.ok()) {
    std::fprintf(stderr, "%s\n", checkpoint.status().to_string().c_str());
    return 1;
  }
  std::printf("%s, %zu tensors, %s\n", checkpoint->format.c_str(), checkpoint->tensors.size(),
              shardwise::format_bytes(checkpoint->total_bytes()).c_str());
  for (const shardwise::TensorInfo& tensor : checkpoint->tensors) {
    std::printf("%-12s %-20s %s\n", std::string(to_string(tensor.dtype)).c_str(),
                shardwise::to_string(tensor.shape).c_str(), tensor.name.c_str());
  }
  return 0;
}
