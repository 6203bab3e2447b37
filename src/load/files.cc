#include "load/files.h"

#include <sys/stat.h>

#include "base/format.h"
#include "io/inflate_file.h"
#include "io/residency.h"

namespace shardwise {
namespace {

constexpr std::uint64_t kFewBytes = 4_MiB;  // not worth a ring
constexpr double kMostlyCached = 0.75;      // O_DIRECT would read what is cached once more

// Bytes that the plan reads of each file, and the range they lie in.
struct Use {
  std::uint64_t bytes = 0;
  ByteRange span{~std::uint64_t{0}, 0};
};

std::vector<Use> uses(const LoadPlan& plan) {
  std::vector<Use> out(plan.files.size());
  for (const Read& read : plan.reads) {
    if (read.file == Extent::kNoFile || read.range.empty()) continue;
    Use& use = out[read.file];
    use.bytes += read.range.size();
    use.span = {std::min(use.span.begin, read.range.begin), std::max(use.span.end, read.range.end)};
  }
  return out;
}

Result<std::shared_ptr<const File>> open_planned(const CatalogFile& planned) {
  SHARDWISE_ASSIGN_OR_RETURN(std::shared_ptr<const File> file, open_file(planned.path));
  SHARDWISE_RETURN_IF_ERROR(check_unchanged(planned, *file));
  if (!planned.is_deflated()) return file;
  return open_inflate_file(std::move(file), planned.member, planned.size);
}

Status prepare(OpenFile& open, const Use& use, const CatalogFile& planned, const LoadOptions& options) {
  open.in_order = planned.is_deflated();
  if (open.file->descriptor() < 0) {
    open.method = ReadMethod::kMemory;
    return Status();
  }
  const std::optional<double> cached =
      use.bytes < kFewBytes ? std::nullopt : resident_share(open.file->descriptor(), use.span);
  open.cached = cached && *cached >= kMostlyCached;
  open.method = options.method.value_or(cached && !open.cached ? ReadMethod::kDirect : ReadMethod::kBuffered);
  if (open.method != ReadMethod::kDirect) {
    open.method = ReadMethod::kBuffered;
    return Status();
  }
  auto direct = DirectFile::open(*open.file);
  if (direct.ok()) {
    open.direct = std::move(direct).value();
  } else if (direct.status().code() == Code::kUnimplemented) {
    open.method = ReadMethod::kBuffered;
  } else {
    return direct.status();
  }
  return Status();
}

}  // namespace

std::string_view to_string(ReadMethod method) {
  switch (method) {
    case ReadMethod::kBuffered:
      return "buffered";
    case ReadMethod::kDirect:
      return "direct";
    case ReadMethod::kMemory:
      return "memory";
  }
  return "unknown";
}

Status check_unchanged(const CatalogFile& planned, const File& file) {
  const int descriptor = file.descriptor();
  if (descriptor < 0) return Status();
  struct stat now {};
  if (fstat(descriptor, &now) != 0) return unavailable("{}: fstat failed", file.path());
  const auto size = static_cast<std::uint64_t>(now.st_size);
  const std::int64_t modified = std::int64_t{now.st_mtim.tv_sec} * 1'000'000'000 + now.st_mtim.tv_nsec;
  // `size` of a deflated member is not the archive's; its modification time tells.
  if (!planned.is_deflated() && size != planned.size) {
    return failed_precondition("{}: has {} bytes, but had {} when it was planned; plan again", file.path(), size,
                               planned.size);
  }
  if (planned.modified_ns != 0 && (modified != planned.modified_ns || now.st_ino != planned.inode)) {
    return failed_precondition("{}: changed since it was planned (modification time or inode differs); plan again",
                               file.path());
  }
  return Status();
}

Result<std::vector<OpenFile>> open_files(const LoadPlan& plan, const LoadOptions& options) {
  const std::vector<Use> use = uses(plan);
  std::vector<OpenFile> files(plan.files.size());
  for (std::size_t f = 0; f < files.size(); ++f) {
    if (use[f].bytes == 0) continue;
    SHARDWISE_ASSIGN_OR_RETURN(files[f].file, options.open ? options.open(plan.files[f]) : open_planned(plan.files[f]));
    if (files[f].file->size() < use[f].span.end) {
      return failed_precondition("{}: has {} bytes, but the plan reads up to byte {}; plan again",
                                 files[f].file->path(), files[f].file->size(), use[f].span.end);
    }
    SHARDWISE_RETURN_IF_ERROR(prepare(files[f], use[f], plan.files[f], options));
  }
  return files;
}

}  // namespace shardwise
