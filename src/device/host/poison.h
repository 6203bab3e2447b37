// Tells the address sanitizer which bytes of an arena nobody may touch; nothing in other builds.
#pragma once

#include "shardwise/bytes.h"

#if defined(__SANITIZE_ADDRESS__)
#define SHARDWISE_HAS_ADDRESS_SANITIZER_
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SHARDWISE_HAS_ADDRESS_SANITIZER_
#endif
#endif

#ifdef SHARDWISE_HAS_ADDRESS_SANITIZER_
#include <sanitizer/asan_interface.h>
#endif

namespace shardwise::host {

// Addresses; the begin is aligned to 8.
inline void poison([[maybe_unused]] ByteRange range) {
#ifdef SHARDWISE_HAS_ADDRESS_SANITIZER_
  __asan_poison_memory_region(reinterpret_cast<void*>(range.begin), range.size());
#endif
}
inline void unpoison([[maybe_unused]] ByteRange range) {
#ifdef SHARDWISE_HAS_ADDRESS_SANITIZER_
  __asan_unpoison_memory_region(reinterpret_cast<void*>(range.begin), range.size());
#endif
}

}  // namespace shardwise::host
