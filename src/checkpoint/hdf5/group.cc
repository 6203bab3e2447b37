#include "checkpoint/hdf5/group.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "checkpoint/hdf5/link_message.h"
#include "checkpoint/hdf5/symbol_table.h"

namespace shardwise::hdf5 {
namespace {

Status check_name(const std::string& name) {
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos ||
      name.find('\0') != std::string::npos) {
    return data_loss("a link with the name '{}' (corrupt or hostile file?)", printable(name));
  }
  return {};
}

// Links in link messages of the header itself.
Result<std::vector<Link>> read_compact_links(Metadata& metadata, const ObjectHeader& header, const Message& info) {
  SHARDWISE_ASSIGN_OR_RETURN(const LinkInfo link_info, read_link_info(info, metadata.format()));
  if (link_info.heap != kUndefined) return unimplemented("a group with its links in dense storage (a fractal heap)");
  std::vector<Link> links;
  for (const Message& message : header.messages) {
    if (message.type != MessageType::kLink) continue;
    if (message.is_shared()) return unimplemented("a link kept in a shared message");
    Cursor cursor = message.cursor(metadata.format());
    SHARDWISE_ASSIGN_OR_RETURN(Link link, read_link(cursor));
    SHARDWISE_RETURN_IF_ERROR(metadata.charge(sizeof(Link) + link.name.size()));
    links.push_back(std::move(link));
  }
  std::sort(links.begin(), links.end(), [](const Link& a, const Link& b) { return a.name < b.name; });
  return links;
}

}  // namespace

bool is_group(const ObjectHeader& header) {
  return header.has(MessageType::kSymbolTable) || header.has(MessageType::kLinkInfo) || header.has(MessageType::kLink);
}

Result<std::vector<Link>> read_links(Metadata& metadata, const ObjectHeader& header) {
  SHARDWISE_ASSIGN_OR_RETURN(const Message* table, header.find(MessageType::kSymbolTable));
  SHARDWISE_ASSIGN_OR_RETURN(const Message* info, header.find(MessageType::kLinkInfo));
  if ((table == nullptr) == (info == nullptr)) {
    return data_loss("object header at byte {}: a group needs either a symbol table or link information, it has {}",
                     header.offset, table == nullptr ? "none" : "both");
  }
  auto links = table != nullptr ? read_symbol_table(metadata, *table) : read_compact_links(metadata, header, *info);
  if (!links.ok()) return links;
  for (std::size_t i = 0; i < links->size(); ++i) {
    const Link& link = (*links)[i];
    SHARDWISE_RETURN_IF_ERROR(check_name(link.name));
    if (link.header == kUndefined) return data_loss("link '{}' leads to no address (corrupt file?)", printable(link.name));
    if (i > 0 && (*links)[i - 1].name == link.name) {
      return data_loss("two links with the name '{}' (corrupt file?)", printable(link.name));
    }
  }
  return links;
}

}  // namespace shardwise::hdf5
