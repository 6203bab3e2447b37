// The files of a plan, opened and checked, and how each is read.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "io/ring.h"
#include "shardwise/load.h"
#include "shardwise/plan.h"

namespace shardwise {

// One file in use. Immutable after opening, but for its `order` lock.
struct OpenFile {
  std::shared_ptr<const File> file;
  std::shared_ptr<const DirectFile> direct;  // set when method is kDirect
  ReadMethod method = ReadMethod::kBuffered;
  bool cached = false;  // most of what is wanted was in the page cache, as far as the system tells
  // Reads must come in file order, one at a time (a stream that is inflated on the way).
  bool in_order = false;
};

// Opens every file that the plan reads, compares size, inode and modification time with the plan's, and chooses how to
// read: kMemory without a descriptor; kBuffered when most of the wanted bytes are cached or they are few; kDirect when
// the system can; else kBuffered. `method` overrides the look at the cache.
// Errors: those of opening; FAILED_PRECONDITION for a file that changed since the plan was made.
Result<std::vector<OpenFile>> open_files(const LoadPlan& plan, const LoadOptions& options);

// FAILED_PRECONDITION when a file's size or modification time is not the plan's (any more).
Status check_unchanged(const CatalogFile& planned, const File& file);

}  // namespace shardwise
