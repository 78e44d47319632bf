// The C interface: plan and run for other languages, C99, stable within a major version.
//
// Every fallible function returns a convoy_status and sets its outputs only where that is
// CONVOY_OK. The message of the last failure on the calling thread is convoy_last_error(). A null
// handle or a null pointer where none is allowed is CONVOY_INVALID. No exception leaves a function.
// Texts are UTF-8 and end in NUL; a text given out belongs to the handle that it came from.
// Handles are immutable: any number of threads may use one, until one of them frees it.
#pragma once

#include <stddef.h>
#include <stdint.h>

// NOLINTBEGIN(readability-identifier-naming): C
#ifdef __cplusplus
extern "C" {
#endif

typedef enum convoy_status {
  CONVOY_OK = 0,
  CONVOY_INVALID = 1,      // the caller fixes it
  CONVOY_UNSUPPORTED = 2,  // valid, but no kernel serves it
  CONVOY_UNAVAILABLE = 3,  // device, driver or memory is missing
  CONVOY_INTERNAL = 4      // a bug of Convoy
} convoy_status;

typedef enum convoy_dtype {
  CONVOY_F32 = 0,
  CONVOY_TF32 = 1,  // f32 in memory
  CONVOY_F16 = 2,
  CONVOY_BF16 = 3
} convoy_dtype;

typedef enum convoy_verdict {
  CONVOY_CHOSEN = 0,
  CONVOY_ACCEPTED = 1,
  CONVOY_DECLINED = 2
} convoy_verdict;

typedef enum convoy_operand {
  CONVOY_X = 0,    // also dx: (N,C,[D,][H,]W)
  CONVOY_W = 1,    // also dw: (K,C/g,[T,][R,]S)
  CONVOY_Y = 2,    // also dy: (N,K,[Z,][P,]Q)
  CONVOY_BIAS = 3  // also db: (K)
} convoy_operand;

enum { CONVOY_MAX_RANK = 5 };

typedef struct convoy_device convoy_device;
typedef struct convoy_plan convoy_plan;
typedef struct convoy_packed convoy_packed;

// Structs start with their size, sizeof as the caller compiled it: a later minor version appends
// fields and still takes the size of this one. Fill a struct with zeros first.

// A strided view of the caller's memory, on the device of the plan. Axes as convoy_operand lists
// them; strides in elements.
typedef struct convoy_tensor {
  size_t struct_size;  // sizeof(convoy_tensor)
  void* data;          // aligned to its elements; an input is only read
  int32_t dtype;       // a convoy_dtype
  int32_t rank;        // 1 to CONVOY_MAX_RANK
  int64_t sizes[CONVOY_MAX_RANK];
  int64_t strides[CONVOY_MAX_RANK];
} convoy_tensor;

// The operands of a pass, null where it has none.
// fprop: x w [bias] -> y; dgrad: dy w -> dx; wgrad: x dy -> dw [db].
typedef struct convoy_run_args {
  size_t struct_size;  // sizeof(convoy_run_args)
  const convoy_tensor *x, *w, *bias, *y;
  const convoy_tensor *dy, *dx, *dw, *db;
  void* workspace;  // null, or at least convoy_plan_workspace_bytes(), 64-byte aligned
  size_t workspace_bytes;
  const convoy_packed* packed;  // instead of w, or null
} convoy_run_args;

typedef struct convoy_plan_options {
  size_t struct_size;     // sizeof(convoy_plan_options)
  const char* kernel;     // this one or an error; null or "": the cheapest that accepts
  int32_t deterministic;  // not 0: the same bits for any batch, thread count and run
} convoy_plan_options;

// One kernel that a plan asked. The texts belong to the plan.
typedef struct convoy_candidate {
  size_t struct_size;  // sizeof(convoy_candidate), set by the caller
  const char* kernel;
  const char* reason;  // why it was declined, or what decided
  const char* config;  // "" where declined
  int32_t verdict;     // a convoy_verdict
  double estimate_us;  // microseconds; 0 where declined
} convoy_candidate;

// "0.1.0". Never null.
const char* convoy_version(void);

// One line on what failed last on this thread, cut to 1023 bytes; "" before any failure. Never
// null; valid until the next failure on this thread. A success leaves it as it is.
const char* convoy_last_error(void);

// Parses and validates a problem text, as "conv2d fprop f32 n1 c8 k8 h5 w5 r3 s3".
// INVALID: what is wrong with it; UNSUPPORTED: a dtype that is only reserved. The four functions on
// a text below fail in the same way.
convoy_status convoy_problem_check(const char* problem);
// Logical sizes of an operand, outermost axis first; sizes[rank..] are set to 0.
// INVALID: also an operand that is no convoy_operand.
convoy_status convoy_problem_shape(const char* problem, convoy_operand operand,
                                   int64_t sizes[CONVOY_MAX_RANK], int32_t* rank);
// Two per multiply-add; taps on padding count.
convoy_status convoy_problem_flops(const char* problem, int64_t* flops);
// Bytes of the x that some output reads, of w, bias and y, each once.
convoy_status convoy_problem_bytes(const char* problem, int64_t* bytes);

// Opens "cpu" or "cuda[:i]". INVALID: another word or a bad CONVOY_ environment variable;
// UNAVAILABLE: a backend that this build or machine lacks. Free it with convoy_device_free, also
// before its plans.
convoy_status convoy_device_open(const char* name, convoy_device** device);
void convoy_device_free(convoy_device* device);  // null is allowed

// Chooses a kernel; `options` may be null. INVALID: the text, or a kernel name that is not known;
// UNSUPPORTED: no kernel serves the problem, or the named one declines.
// Free the plan with convoy_plan_free.
convoy_status convoy_plan_create(const char* problem, const convoy_device* device,
                                 const convoy_plan_options* options, convoy_plan** plan);
void convoy_plan_free(convoy_plan* plan);  // null is allowed

// Texts of a plan, which owns them; null for a null plan.
const char* convoy_plan_kernel(const convoy_plan* plan);
const char* convoy_plan_config(const convoy_plan* plan);
const char* convoy_plan_problem(const convoy_plan* plan);  // in the shortest form

// Bytes of workspace that let the chosen kernel run without packed weights; often 0.
convoy_status convoy_plan_workspace_bytes(const convoy_plan* plan, size_t* bytes);

// Every kernel that was asked, chosen or not, in the order of the roster.
// INVALID: an index that is not below the count.
convoy_status convoy_plan_candidate_count(const convoy_plan* plan, size_t* count);
convoy_status convoy_plan_candidate(const convoy_plan* plan, size_t index,
                                    convoy_candidate* candidate);

// Computes; complete when it returns. INVALID: an operand that is missing, or whose shape, dtype,
// alignment or overlap is wrong, a misaligned workspace, weights packed by another plan.
convoy_status convoy_plan_run(const convoy_plan* plan, const convoy_run_args* args);

// Weights in the order that the plan's kernel reads, for that plan only. UNSUPPORTED: the kernel
// reads them as they are; UNAVAILABLE: no memory. Free them with convoy_packed_free.
convoy_status convoy_plan_pack_weights(const convoy_plan* plan, const convoy_tensor* w,
                                       convoy_packed** packed);
void convoy_packed_free(convoy_packed* packed);  // null is allowed

#ifdef __cplusplus
}
#endif
// NOLINTEND(readability-identifier-naming)
