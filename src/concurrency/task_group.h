// TaskGroup: tasks that are joined before their group goes out of scope.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "shardwise/status.h"

namespace shardwise {

// Runs tasks on threads of its own. The first error stops the group (its stop_token is requested) and is what wait()
// returns; a stop of `parent` stops it too. The destructor stops and joins: nothing of a task runs afterwards.
// Thread-compatible.
class TaskGroup {
 public:
  explicit TaskGroup(std::stop_token parent = {});
  ~TaskGroup();
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // Starts a thread that runs the task. Errors: RESOURCE_EXHAUSTED when the system has no thread for it.
  Status start(std::function<Status(std::stop_token)> task);
  // Joins all; the first error of any task, or Ok.
  Status wait();
  std::stop_token stop_token() const;
  void request_stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shardwise
