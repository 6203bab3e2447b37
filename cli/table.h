// Table: columns of text, aligned.
#pragma once

#include <string>
#include <vector>

namespace shardwise::cli {

enum class Align : unsigned char { kLeft, kRight };

// Thread-compatible. Widths are counted in bytes.
class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One row; missing cells at the end are empty.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  // Title line and rows, each starting with `indent` blanks; cells are two blanks apart, no blanks at line ends.
  std::string to_string(std::size_t indent = 2) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace shardwise::cli
