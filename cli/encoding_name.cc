#include "cli/encoding_name.h"

#include "base/format.h"

namespace shardwise::cli {
namespace {

std::string_view filter_name(Filter::Kind kind) {
  switch (kind) {
    case Filter::Kind::kDeflate:
      return "deflate";
    case Filter::Kind::kShuffle:
      return "shuffle";
    case Filter::Kind::kFletcher32:
      return "fletcher32";
  }
  return "?";
}

}  // namespace

std::string encoding_name(const Catalog& catalog, std::uint32_t encoding) {
  std::vector<std::string_view> names;
  for (const Filter& filter : catalog.encodings[encoding].filters) names.push_back(filter_name(filter.kind));
  return names.empty() ? "plain" : format("{}", fmt::join(names, "+"));
}

}  // namespace shardwise::cli
