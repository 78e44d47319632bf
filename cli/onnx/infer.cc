// Shapes that libonnx infers, for what the own rules leave open.
#include "onnx/infer.h"

#include <fcntl.h>
#include <onnx/shape_inference/implementation.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <unordered_map>

#include "onnx/shape_rules.h"

namespace convoy::cli {
namespace {

constexpr rlim_t kSeconds = 10;
constexpr rlim_t kMemory = rlim_t{1} << 29;  // beyond what the process holds already
constexpr size_t kMostAnswer = size_t{1} << 28;

std::optional<Sizes> complete_shape(const onnx::ValueInfoProto& info) {
  if (!info.type().tensor_type().has_shape()) return std::nullopt;
  const auto& dims = info.type().tensor_type().shape().dim();
  if (static_cast<size_t>(dims.size()) > kMostAxes) return std::nullopt;
  Sizes sizes;
  for (const auto& dim : dims) {
    if (dim.dim_value() < 1 || dim.dim_value() > kMostExtent) return std::nullopt;
    sizes.push_back(dim.dim_value());
  }
  return sizes;
}

void limit_this_process() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t memory = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + kMemory;
  const rlimit space{memory, memory}, time{kSeconds, kSeconds}, core{0, 0};
  setrlimit(RLIMIT_AS, &space);
  setrlimit(RLIMIT_CPU, &time);
  setrlimit(RLIMIT_CORE, &core);
}

// Operators that libonnx 1.12 would misread get a name it does not know.
void hide_newer(onnx::ModelProto& model, int64_t opset) {
  model.clear_functions();  // a function that calls itself never ends
  if (opset <= 17) return;
  for (onnx::NodeProto& node : *model.mutable_graph()->mutable_node()) {
    if (changed_after_opset_17(node.op_type())) node.set_op_type("convoy." + node.op_type());
  }
}

// Adds what the own rules know and libonnx could not infer.
void add_known(onnx::GraphProto& g, const Graph& graph) {
  std::unordered_map<std::string, onnx::ValueInfoProto*> infos;
  for (auto* list : {g.mutable_value_info(), g.mutable_output()}) {
    for (onnx::ValueInfoProto& info : *list)
      infos.emplace(info.name(), &info);
  }
  for (const Value& value : graph.values) {
    if (!value.top_level || value.producer < 0 || !value.shape) continue;
    onnx::ValueInfoProto*& info = infos[value.name];
    if (info == nullptr) {
      info = g.add_value_info();
      info->set_name(value.name);
      // A type is needed by the rules behind; most values of a network are floats.
      info->mutable_type()->mutable_tensor_type()->set_elem_type(
          value.ints ? onnx::TensorProto::INT64 : onnx::TensorProto::FLOAT);
    }
    if (complete_shape(*info)) continue;
    auto& shape = *info->mutable_type()->mutable_tensor_type()->mutable_shape();
    shape.clear_dim();
    for (const int64_t extent : *value.shape)
      shape.add_dim()->set_dim_value(extent);
  }
}

// False where a node's contradiction ended the inference; what came before it stands in value_info.
bool infer(onnx::ModelProto& model) {
  onnx::ShapeInferenceOptions options;
  options.enable_data_propagation = true;
  try {
    onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), options);
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

std::string answer(onnx::ModelProto& model, const Graph& graph) {
  hide_newer(model, graph.opset);
  static_cast<void>(infer(model));
  add_known(*model.mutable_graph(), graph);
  static_cast<void>(infer(model));
  onnx::GraphProto found;
  for (onnx::ValueInfoProto& info : *model.mutable_graph()->mutable_value_info()) {
    if (complete_shape(info)) found.add_value_info()->Swap(&info);
  }
  return found.SerializeAsString();
}

[[noreturn]] void child(const onnx::ModelProto& model, const Graph& graph, int out) {
  limit_this_process();
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  std::string bytes;
  try {
    // The memory of a forked process is its own copy.
    bytes = answer(const_cast<onnx::ModelProto&>(model), graph);
  } catch (...) {
    _exit(1);
  }
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t n = write(out, bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno != EINTR) _exit(1);
    if (n > 0) at += static_cast<size_t>(n);
  }
  _exit(0);
}

// libonnx 1.12 divides by zero, recurses and allocates without bound on hostile files, so it runs
// in a process of its own, with limits; a crash there is an empty answer here.
std::string ask_child(const onnx::ModelProto& model, const Graph& graph) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  const pid_t pid = fork();
  if (pid == 0) child(model, graph, ends[1]);
  close(ends[1]);
  std::string bytes;
  char block[1 << 16];
  while (pid > 0 && bytes.size() < kMostAnswer) {
    const ssize_t n = read(ends[0], block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    bytes.append(block, static_cast<size_t>(n));
  }
  close(ends[0]);
  int status = 1;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status == 0 ? bytes : std::string();
}

}  // namespace

bool infer_with_libonnx(const onnx::ModelProto& model, Graph& graph) {
  onnx::GraphProto found;
  if (!found.ParseFromString(ask_child(model, graph))) return false;
  std::unordered_map<std::string, Value*> open_values;
  for (Value& value : graph.values) {
    if (value.top_level && !value.shape) open_values.emplace(value.name, &value);
  }
  bool learned = false;
  for (const onnx::ValueInfoProto& info : found.value_info()) {
    const auto at = open_values.find(info.name());
    if (at == open_values.end()) continue;
    at->second->shape = complete_shape(info);
    learned = true;
  }
  return learned;
}

}  // namespace convoy::cli
