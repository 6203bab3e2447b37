#include "concurrency/task_group.h"

#include <exception>
#include <new>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/format.h"
#include "concurrency/mutex.h"

namespace shardwise {
namespace {

using Task = std::function<Status(std::stop_token)>;

// Runs the task; what it throws becomes its Status.
Status run(const Task& task, std::stop_token stop) {
  try {
    return task(std::move(stop));
  } catch (const std::bad_alloc&) {
    return resource_exhausted("a task ran out of memory");
  } catch (const std::exception& error) {
    return internal_error("a task threw: {}", error.what());
  } catch (...) {
    return internal_error("a task threw something that is not a std::exception");
  }
}

}  // namespace

struct TaskGroup::State {
  explicit State(std::stop_token parent) : on_parent_stop(std::move(parent), StopGroup{&source}) {}

  void finish(Status status) {
    if (status.ok()) return;
    {
      MutexLock lock(mutex);
      if (first_error.ok()) first_error = std::move(status);
    }
    source.request_stop();
  }
  Status error() const {
    MutexLock lock(mutex);
    return first_error;
  }
  void join() {
    for (std::thread& thread : threads) thread.join();
    threads.clear();
  }

  struct StopGroup {
    std::stop_source* source;
    void operator()() const { source->request_stop(); }
  };

  std::stop_source source;
  mutable Mutex mutex;
  Status first_error SHARDWISE_GUARDED_BY(mutex);
  std::vector<std::thread> threads;  // touched by the group's owner alone
  std::stop_callback<StopGroup> on_parent_stop;
};

TaskGroup::TaskGroup(std::stop_token parent) : state_(std::make_unique<State>(std::move(parent))) {}

TaskGroup::~TaskGroup() {
  state_->source.request_stop();
  state_->join();
}

Status TaskGroup::start(Task task) {
  try {
    state_->threads.emplace_back(
        [state = state_.get(), task = std::move(task)] { state->finish(run(task, state->source.get_token())); });
  } catch (const std::system_error& error) {
    return resource_exhausted("cannot start thread {} of a task group: {} (limit of threads or of memory?)",
                              state_->threads.size() + 1, error.what());
  } catch (const std::bad_alloc&) {
    return resource_exhausted("cannot start thread {} of a task group: out of memory", state_->threads.size() + 1);
  }
  return {};
}

Status TaskGroup::wait() {
  state_->join();
  return state_->error();
}

std::stop_token TaskGroup::stop_token() const { return state_->source.get_token(); }
void TaskGroup::request_stop() { state_->source.request_stop(); }

}  // namespace shardwise
