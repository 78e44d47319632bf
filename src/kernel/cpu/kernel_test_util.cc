// Random problems, guarded operands and the comparison with the reference for tests of CPU kernels.
#include "kernel/cpu/kernel_test_util.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>

#include "base/int_math.h"
#include "base/str.h"
#include "kernel/operand.h"

namespace convoy::test {

GuardedBuffer::GuardedBuffer(size_t bytes, bool at_back) : bytes_(bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t inner = (bytes + page) / page * page;
  mapped_ = inner + 2 * page;
  mapping_ = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* front = static_cast<std::byte*>(mapping_) + page;
  mprotect(front, inner, PROT_READ | PROT_WRITE);
  data_ = at_back ? front + inner - bytes : front;
}
GuardedBuffer::~GuardedBuffer() {
  munmap(mapping_, mapped_);
}

namespace {

template <class T>
T from_f64(double v) {
  if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(v);
  } else {
    return T::from(v);
  }
}

// A view of `shape` and the memory that it lies in, all of which holds NaN at first.
struct Owned {
  TensorView view;
  std::unique_ptr<GuardedBuffer> buffer;
};

Owned make(const Shape& shape, DType dtype, Layout layout, Gaps gaps, bool at_back) {
  Owned out{.view = packed(nullptr, dtype, shape.span(), layout)};
  int64_t span = std::max<int64_t>(out.view.elements(), 1);
  if (gaps != Gaps::kNone && out.view.rank > 2) {
    const int inner = layout == Layout::kNhwc ? 1 : out.view.rank - 1;
    int64_t stride = gaps == Gaps::kEverywhere ? 2 : 1;
    const auto set = [&](int axis) {
      out.view.strides[axis] = stride;
      stride = stride * std::max<int64_t>(out.view.sizes[axis], 1) + 1;
    };
    set(inner);
    for (int axis = out.view.rank - 1; axis >= 0; --axis) {
      if (axis != inner) set(axis);
    }
    span = 1;
    for (int axis = 0; axis < out.view.rank; ++axis)
      span += out.view.strides[axis] * std::max<int64_t>(out.view.sizes[axis] - 1, 0);
  }
  out.buffer = std::make_unique<GuardedBuffer>(span * size_of(dtype), at_back);
  std::memset(out.buffer->data(), 0xff, out.buffer->bytes());
  out.view.data = out.buffer->data();
  return out;
}

// Calls f(pointer, index) for every element of the view.
template <class T, class F>
void for_each(const TensorView& v, F&& f) {
  for (int64_t i = 0; i < v.elements(); ++i) {
    int64_t rest = i, offset = 0;
    for (int axis = v.rank; axis-- > 0;) {
      offset += rest % v.sizes[axis] * v.strides[axis];
      rest /= v.sizes[axis];
    }
    f(static_cast<T*>(v.data) + offset, i);
  }
}

void fill(const TensorView& v, int most, bool non_finite, std::mt19937& random) {
  with_type(v.dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    for_each<T>(v, [&](T* to, int64_t) {
      double value = std::uniform_int_distribution<int>(-most, most)(random);
      if (non_finite && random() % 40 == 0) {
        value = random() % 2 == 0 ? std::numeric_limits<double>::infinity()
                                  : std::numeric_limits<double>::quiet_NaN();
      }
      *to = from_f64<T>(value);
    });
  });
}

struct Operands {
  Owned x, w, bias, y, expected;
};

Operands make_operands(const Trial& t) {
  const ConvProblem& p = t.problem;
  std::mt19937 random(t.seed);
  const bool back = t.seed % 2 == 0, non_finite = t.values == Values::kNonFinite;
  Operands o;
  o.x = make(x_shape(p), p.dtype, p.layout, t.gaps, back);
  o.w = make(w_shape(p), p.dtype, p.layout, Gaps::kNone, back);
  o.y = make(y_shape(p), p.dtype, p.layout, t.gaps, back);
  o.expected = make(y_shape(p), p.dtype, p.layout, Gaps::kNone, back);
  fill(o.x.view, 3, non_finite, random);
  fill(o.w.view, 2, non_finite && random() % 2 == 0, random);
  if (p.bias != BiasType::kNone) {
    o.bias = make(bias_shape(p), bias_dtype(p), Layout::kNchw, Gaps::kNone, back);
    fill(o.bias.view, 5, false, random);
  }
  return o;
}

Status run_kernel(const Trial& t, const std::string& kernel, const Device& device,
                  const Operands& o, const TensorView& y) {
  Result<Plan> made = plan(t.problem, device, {.kernel = kernel});
  if (!made) return made.status();
  const size_t bytes = made->workspace_bytes();
  auto workspace = std::make_unique<std::byte[]>(bytes + 64);
  void* aligned = workspace.get();
  size_t space = bytes + 64;
  std::align(64, bytes, aligned, space);
  RunArgs args{.x = o.x.view, .w = o.w.view, .y = y};
  if (t.problem.bias != BiasType::kNone) args.bias = o.bias.view;
  args.workspace = aligned;
  args.workspace_bytes = bytes;
  return made->run(args);
}

bool same(double got, double want, double eps, bool exact) {
  if (std::isnan(want)) return std::isnan(got);
  if (exact || std::isinf(want)) return got == want;
  return std::abs(got - want) <= 4 * 0x1p-24 * std::abs(want) + eps * std::abs(want) + 1e-30;
}

// Every byte of the output that the view does not name still holds its fill.
bool gaps_untouched(const Owned& y) {
  std::vector<bool> named(y.buffer->bytes(), false);
  const int size = size_of(y.view.dtype);
  with_type(y.view.dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    for_each<T>(y.view, [&](T* at, int64_t) {
      const auto offset = reinterpret_cast<std::byte*>(at) - y.buffer->data();
      std::fill_n(named.begin() + offset, size, true);
    });
  });
  for (size_t i = 0; i < named.size(); ++i) {
    if (!named[i] && y.buffer->data()[i] != std::byte{0xff}) return false;
  }
  return true;
}

std::string reference_name() {
  for (const KernelFacts& row : kernels()) {
    if (row.reference && row.passes == std::vector{Pass::kFprop}) return row.name;
  }
  return "";
}

}  // namespace

std::string compare_with_reference(const Trial& t, const std::string& kernel,
                                   const Device& device) {
  const Operands o = make_operands(t);
  if (Status s = run_kernel(t, reference_name(), device, o, o.expected.view); !s.ok())
    return s.message();
  if (Status s = run_kernel(t, kernel, device, o, o.y.view); !s.ok()) return s.message();
  if (!gaps_untouched(o.y)) return str(to_text(t.problem), ": wrote outside the output view");
  const Activation f = t.problem.activation;
  const bool exact = f == Activation::kNone || f == Activation::kRelu || f == Activation::kRelu6;
  const double eps = std::ldexp(1.0, -mantissa_bits(t.problem.dtype));
  std::string fault;
  with_type(t.problem.dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    std::vector<double> want;
    for_each<T>(o.expected.view, [&](T* at, int64_t) { want.push_back(to_f64(*at)); });
    for_each<T>(o.y.view, [&](T* at, int64_t i) {
      if (!fault.empty() || same(to_f64(*at), want[i], eps, exact)) return;
      fault = str(to_text(t.problem), " on ", name(device.info().isa), ", gaps ",
                  static_cast<int>(t.gaps), ": element ", i, " is ", to_f64(*at), ", expected ",
                  want[i]);
    });
  });
  return fault;
}

std::vector<std::byte> output_bytes(const Trial& t, const std::string& kernel,
                                    const Device& device) {
  const Operands o = make_operands(t);
  if (!run_kernel(t, kernel, device, o, o.y.view).ok()) return {};
  return {o.y.buffer->data(), o.y.buffer->data() + o.y.buffer->bytes()};
}

ConvProblem random_problem(std::mt19937& random) {
  const auto pick = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  for (;;) {
    ConvProblem p{.rank = static_cast<int>(pick({1, 2, 2, 2, 3}))};
    p.dtype = static_cast<DType>(pick({0, 0, 1, 2, 3}));
    p.N = pick({0, 1, 1, 2, 3});
    p.G = pick({1, 2, 3, 5});
    p.C = p.G * pick({1, 1, 1, 2, 3, 4});
    p.K = p.G * pick({1, 1, 1, 2, 3, 4, 6, 8, 13});
    for (int d = p.first_axis(); d < 3; ++d) {
      const bool row = d == 2;
      p.in[d] = row ? pick({1, 2, 5, 7, 8, 14, 15, 16, 17, 28, 31, 32, 33, 40, 57, 130})
                    : pick({1, 2, 3, 7, 8, 9, 13});
      if (random() % 40 == 0 && row) p.in[d] = 400;
      p.filter[d] = pick({1, 1, 2, 3, 3, 3, 5, 7});
      p.stride[d] = pick({1, 1, 1, 2, 2, 3});
      p.dilation[d] = pick({1, 1, 1, 2, 4});
      p.pad_lo[d] = pick({0, 0, 1, 1, 2, 3, 9});
      p.pad_hi[d] = random() % 2 == 0 ? p.pad_lo[d] : pick({0, 1, 2, 5});
      if (random() % 3 == 0 && p.filter[d] % 2 == 1) {
        p.stride[d] = 1;
        p.pad_lo[d] = p.pad_hi[d] = p.dilation[d] * (p.filter[d] / 2);
      }
    }
    if (random() % 5 == 0) p.filter = p.stride = p.dilation = {1, 1, 1};
    if (random() % 5 == 0) p.pad_lo = p.pad_hi = {0, 0, 0};
    p.bias = static_cast<BiasType>(random() % 3);
    if (p.bias == BiasType::kF32 && size_of(p.dtype) == 4) p.bias = BiasType::kSame;
    p.activation = static_cast<Activation>(random() % 3 != 0 ? 0 : random() % 6);
    p.layout = random() % 2 == 0 ? Layout::kNchw : Layout::kNhwc;
    if (validate(p).ok()) return p;
  }
}

std::vector<Device> tier_devices() {
  std::vector<Device> devices;
  for (const Isa isa : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512}) {
    Result<Device> device = open_cpu({.isa_cap = isa, .threads = 2});
    if (device && device->info().isa == isa) devices.push_back(*device);
  }
  return devices;
}

unsigned trials(unsigned most) {
  const char* fraction = std::getenv("CONVOY_TEST_FRACTION");
  return fraction == nullptr ? most : static_cast<unsigned>(most * std::atof(fraction)) + 1;
}

}  // namespace convoy::test
