#include "checkpoint/hdf5/group.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "checkpoint/hdf5/btree2.h"
#include "checkpoint/hdf5/checksum.h"
#include "checkpoint/hdf5/fractal_heap.h"
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

Status add_link(Metadata& metadata, Cursor cursor, std::vector<Link>& links) {
  SHARDWISE_ASSIGN_OR_RETURN(Link link, read_link(cursor));
  SHARDWISE_RETURN_IF_ERROR(metadata.charge(sizeof(Link) + link.name.size()));
  links.push_back(std::move(link));
  return {};
}

// Links in messages of the header itself.
Status add_compact_links(Metadata& metadata, const ObjectHeader& header, std::vector<Link>& links) {
  for (const Message& message : header.messages) {
    if (message.type != MessageType::kLink) continue;
    if (message.is_shared()) return unimplemented("a link kept in a shared message");
    SHARDWISE_RETURN_IF_ERROR(add_link(metadata, message.cursor(metadata.format()), links));
  }
  return {};
}

// Links in a fractal heap, found through the B-tree of their names: hash of the name, id in the heap.
Status add_dense_links(Metadata& metadata, const LinkInfo& info, std::vector<Link>& links) {
  if (info.name_index == kUndefined)
    return data_loss("links in a heap without an index of their names (corrupt file?)");
  SHARDWISE_ASSIGN_OR_RETURN(FractalHeap heap, FractalHeap::read(metadata, info.heap));
  SHARDWISE_ASSIGN_OR_RETURN(const BTree2Records index, read_btree2(metadata, info.name_index, BTree2Type::kLinkNames));
  if (index.record_size != 4 + heap.id_size()) {
    return data_loss("an index of links with records of {} bytes for ids of {}", index.record_size, heap.id_size());
  }
  for (std::size_t i = 0; i < index.size(); ++i) {
    const auto record = std::span(index.bytes).subspan(i * index.record_size, index.record_size);
    SHARDWISE_ASSIGN_OR_RETURN(const Record object, heap.object(record.subspan(4)));
    SHARDWISE_RETURN_IF_ERROR(add_link(metadata, object.cursor(metadata.format(), "link message"), links));
    Cursor hash(record.first(4), info.name_index, metadata.format(), "version 2 B-tree");
    if (hash.u32() != lookup3(std::as_bytes(std::span(links.back().name)))) {
      return hash.error(format("a hash that is not that of the name '{}'", printable(links.back().name)));
    }
  }
  return {};
}

Result<std::vector<Link>> read_new_style(Metadata& metadata, const ObjectHeader& header, const Message& info) {
  SHARDWISE_ASSIGN_OR_RETURN(const LinkInfo link_info, read_link_info(info, metadata.format()));
  std::vector<Link> links;
  SHARDWISE_RETURN_IF_ERROR(add_compact_links(metadata, header, links));
  if (link_info.heap != kUndefined) SHARDWISE_RETURN_IF_ERROR(add_dense_links(metadata, link_info, links));
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
  auto links = table != nullptr ? read_symbol_table(metadata, *table) : read_new_style(metadata, header, *info);
  if (!links.ok()) return links;
  for (std::size_t i = 0; i < links->size(); ++i) {
    const Link& link = (*links)[i];
    SHARDWISE_RETURN_IF_ERROR(check_name(link.name));
    if (link.header == kUndefined)
      return data_loss("link '{}' leads to no address (corrupt file?)", printable(link.name));
    if (i > 0 && (*links)[i - 1].name == link.name) {
      return data_loss("two links with the name '{}' (corrupt file?)", printable(link.name));
    }
  }
  return links;
}

}  // namespace shardwise::hdf5
