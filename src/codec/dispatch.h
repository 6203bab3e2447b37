// Choice of the instruction set, for functions that are handed out as pointers.
#pragma once

#include <hwy/targets.h>

namespace shardwise {

// Before Highway has looked at the processor, its tables give a function that looks again at every call. To be called
// before a pointer is taken from them. Thread-safe.
inline void choose_target() {
  if (!hwy::GetChosenTarget().IsInitialized()) hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace shardwise
