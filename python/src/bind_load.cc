// Loads and the arrays they make.
#include <nanobind/ndarray.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "convert.h"
#include "shardwise/load.h"

namespace shardwise::python {
namespace {

constexpr auto kSignalInterval = std::chrono::milliseconds(50);

// What a load calls back into Python: keeps the first exception, and stops the load with it.
class Callbacks {
 public:
  Callbacks(std::optional<nb::callable> progress, std::optional<nb::callable> on_array, std::stop_source& stop)
      : progress_(std::move(progress)), on_array_(std::move(on_array)), stop_(stop) {}

  LoadOptions options(unsigned threads, bool fingerprints) {
    LoadOptions out{.stop = stop_.get_token(), .threads = threads, .fingerprints = fingerprints};
    if (progress_) {
      out.progress = [this](const Progress& p) {
        (void)call([&] { (*progress_)(p.bytes_done, p.bytes_total, p.tensors_done, p.tensors_total); });
      };
    }
    if (on_array_) {
      out.on_array = [this](const ShardedArray& array) { return call([&] { (*on_array_)(array); }); };
    }
    return out;
  }

  void rethrow() const {
    if (problem_) std::rethrow_exception(problem_);
  }

 private:
  template <typename Call>
  Status call(Call&& function) {
    nb::gil_scoped_acquire acquire;
    if (problem_) return cancelled("a callback failed");
    try {
      function();
      return Status();
    } catch (...) {
      problem_ = std::current_exception();
      stop_.request_stop();
      return cancelled("a callback failed");
    }
  }

  std::optional<nb::callable> progress_;
  std::optional<nb::callable> on_array_;
  std::stop_source& stop_;
  std::exception_ptr problem_;  // guarded by the GIL
};

// Runs the load on a thread of its own, so that the calling one can look for signals (Ctrl-C) meanwhile.
Loaded run(const LoadPlan& plan, std::optional<nb::callable> progress, std::optional<nb::callable> on_array,
           unsigned threads, bool fingerprints) {
  std::stop_source stop;
  Callbacks callbacks(std::move(progress), std::move(on_array), stop);
  const LoadOptions options = callbacks.options(threads, fingerprints);
  std::optional<Result<Loaded>> result;
  std::exception_ptr interrupt;
  {
    nb::gil_scoped_release release;
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    std::thread worker([&] {
      Result<Loaded> loaded = load(plan, options);
      std::lock_guard lock(mutex);
      result = std::move(loaded);
      done = true;
      changed.notify_one();
    });
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, kSignalInterval, [&] { return done; })) {
      if (interrupt) continue;
      lock.unlock();
      {
        nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) interrupt = std::make_exception_ptr(nb::python_error());
      }
      if (interrupt) stop.request_stop();
      lock.lock();
    }
    lock.unlock();
    worker.join();
  }
  if (interrupt) std::rethrow_exception(interrupt);
  callbacks.rethrow();
  return take(std::move(*result));
}

const std::shared_ptr<const Buffer>& buffer_of(const ShardedArray& array, std::size_t device) {
  if (device >= array.buffers().size() || array.buffers()[device] == nullptr) {
    throw nb::index_error("the array has no block on that device");
  }
  return array.buffers()[device];
}

// The bytes of a device's block, alive as long as anything refers to them.
nb::object block(const ShardedArray& array, std::size_t device, bool writable) {
  const auto& buffer = buffer_of(array, device);
  const std::byte* data = buffer->host_data();
  if (data == nullptr) raise(unimplemented("the block is not in host memory"));
  auto* owner = new std::shared_ptr<const Buffer>(buffer);
  const nb::capsule capsule(owner, [](void* p) noexcept { delete static_cast<std::shared_ptr<const Buffer>*>(p); });
  const std::size_t size = buffer->size();
  if (writable) {
    auto* bytes = const_cast<std::byte*>(data);
    return nb::cast(nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>(bytes, {size}, capsule));
  }
  return nb::cast(nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>>(data, {size}, capsule));
}

// The same block as a tensor of CPU device `device_id` to DLPack's consumers.
nb::object dlpack(const ShardedArray& array, std::size_t device, int device_id) {
  static constexpr std::pair<DType, nb::dlpack::dtype> kTypes[] = {
      {DType::kBool, {6, 8, 1}},          {DType::kInt8, {0, 8, 1}},       {DType::kInt16, {0, 16, 1}},
      {DType::kInt32, {0, 32, 1}},        {DType::kInt64, {0, 64, 1}},     {DType::kUint8, {1, 8, 1}},
      {DType::kUint16, {1, 16, 1}},       {DType::kUint32, {1, 32, 1}},    {DType::kUint64, {1, 64, 1}},
      {DType::kFloat16, {2, 16, 1}},      {DType::kFloat32, {2, 32, 1}},   {DType::kFloat64, {2, 64, 1}},
      {DType::kBfloat16, {4, 16, 1}},     {DType::kComplex64, {5, 64, 1}}, {DType::kComplex128, {5, 128, 1}},
      {DType::kFloat8E4m3fn, {10, 8, 1}},
  };
  const auto type =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& t) { return t.first == array.dtype(); });
  if (type == std::end(kTypes)) raise(unimplemented("DLPack has no " + std::string(to_string(array.dtype()))));
  const auto& buffer = buffer_of(array, device);
  if (buffer->host_data() == nullptr) raise(unimplemented("the block is not in host memory"));
  const Box& box = array.box(device);
  const std::vector<std::size_t> shape(box.extent.begin(), box.extent.end());
  auto* owner = new std::shared_ptr<const Buffer>(buffer);
  const nb::capsule capsule(owner, [](void* p) noexcept { delete static_cast<std::shared_ptr<const Buffer>*>(p); });
  return nb::cast(nb::ndarray<nb::array_api>(const_cast<std::byte*>(buffer->host_data()), shape.size(), shape.data(),
                                             capsule, nullptr, type->second, nb::device::cpu::value, device_id));
}

nb::object fingerprints_of(const LoadPlan& plan, const Loaded& loaded) {
  nb::dict out;
  for (std::size_t t = 0; t < loaded.fingerprints.size(); ++t) {
    if (loaded.fingerprints[t]) out[plan.tensors[t].name.c_str()] = to_string(*loaded.fingerprints[t]);
  }
  return out;
}

nb::dict statistics_of(const LoadStatistics& s) {
  nb::dict out;
  out["seconds"] = s.seconds;
  out["bytes_wanted"] = s.bytes_wanted;
  out["bytes_read"] = s.bytes_read;
  out["bytes_generated"] = s.bytes_generated;
  out["bytes_copied"] = s.bytes_copied;
  out["reads"] = s.reads;
  out["read_seconds"] = s.read_seconds;
  out["decode_seconds"] = s.decode_seconds;
  out["copy_seconds"] = s.copy_seconds;
  out["staging_peak_bytes"] = s.staging_peak_bytes;
  return out;
}

}  // namespace

void bind_load(nb::module_& m) {
  nb::class_<ShardedArray>(m, "ShardedArray", "A loaded variable: one block of memory per device. Immutable.")
      .def_prop_ro("name", &ShardedArray::name)
      .def_prop_ro("dtype", [](const ShardedArray& a) { return to_string(a.dtype()); })
      .def_prop_ro("shape", [](const ShardedArray& a) { return to_tuple(a.shape()); })
      .def_prop_ro("placement", &ShardedArray::placement)
      .def("block", &block, nb::arg("device"), nb::kw_only(), nb::arg("writable") = false,
           "The device's block as a numpy array of bytes: row-major elements of placement.box(device), 64-byte "
           "aligned. Devices that share a block return the same memory. writable: for an array that nobody else uses. "
           "Raises IndexError where there is none.")
      .def("dlpack", &dlpack, nb::arg("device"), nb::arg("device_id") = 0,
           "The device's block for DLPack's from_dlpack(): of the array's dtype and shape, on CPU device `device_id`.");
  m.def(
      "load",
      [](const LoadPlan& plan, std::optional<nb::callable> progress, std::optional<nb::callable> on_array,
         unsigned threads, bool fingerprints) {
        Loaded loaded = run(plan, std::move(progress), std::move(on_array), threads, fingerprints);
        return nb::make_tuple(nb::cast(std::move(loaded.arrays)), statistics_of(loaded.statistics),
                              fingerprints_of(plan, loaded));
      },
      nb::arg("plan"), nb::kw_only(), nb::arg("progress") = nb::none(), nb::arg("on_array") = nb::none(),
      nb::arg("threads") = 0u, nb::arg("fingerprints") = false,
      "Runs a plan: (arrays in the order of its variables, statistics, fingerprints of tensors read whole).\n\n"
      "progress(bytes_done, bytes_total, tensors_done, tensors_total) and on_array(array) are called from other "
      "threads, "
      "one at a time; an exception of theirs stops the load and is raised here, as KeyboardInterrupt is. All or "
      "nothing: "
      "after an error nothing stays allocated.\n\nRaises ResourceExhaustedError (before anything is allocated), "
      "DataLossError, OSError, RuntimeError (a file changed since the plan was made).");
}

}  // namespace shardwise::python
