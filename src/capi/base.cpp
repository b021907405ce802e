#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "capi/guard.h"
#include "core/base/error.h"
#include "ranktree/base.h"

namespace ranktree::capi {
namespace {

ranktree_status status_of(core::Fault fault) {
  switch (fault) {
    case core::Fault::kInput:
      return RANKTREE_ERROR_INPUT;
    case core::Fault::kMismatch:
      return RANKTREE_ERROR_MISMATCH;
    case core::Fault::kSystem:
      return RANKTREE_ERROR_SYSTEM;
    case core::Fault::kUnsupported:
      return RANKTREE_ERROR_UNSUPPORTED;
  }
  return RANKTREE_ERROR_INTERNAL;
}

ranktree_status fill(ranktree_error* error, ranktree_status status, std::string_view text) {
  if (error != nullptr) {
    const std::size_t length = std::min(text.size(), sizeof(error->text) - 1);
    std::memcpy(error->text, text.data(), length);
    error->text[length] = '\0';
    error->status = status;
  }
  return status;
}

}  // namespace

ranktree_status report(ranktree_error* error) noexcept {
  try {
    throw;
  } catch (const core::Error& failure) {
    return fill(error, status_of(failure.fault()), failure.what());
  } catch (const std::bad_alloc&) {
    return fill(error, RANKTREE_ERROR_MEMORY, "out of memory");
  } catch (const std::exception& failure) {
    return fill(error, RANKTREE_ERROR_INTERNAL, failure.what());
  } catch (...) {
    return fill(error, RANKTREE_ERROR_INTERNAL, "unknown failure");
  }
}

void require(const void* pointer, std::string_view parameter) {
  if (pointer == nullptr) {
    throw core::Error(core::Fault::kInput,
                      "parameter '" + std::string(parameter) + "': expected a pointer, found NULL");
  }
}

}  // namespace ranktree::capi

const char* ranktree_version(void) { return RANKTREE_VERSION_TEXT; }

int ranktree_api_version(void) { return RANKTREE_API_VERSION; }

const char* ranktree_status_text(ranktree_status status) {
  switch (ranktree::capi::number_of(status)) {
    case RANKTREE_SUCCESS:
      return "success";
    case RANKTREE_ERROR_INPUT:
      return "wrong input";
    case RANKTREE_ERROR_MISMATCH:
      return "inputs do not fit each other";
    case RANKTREE_ERROR_SYSTEM:
      return "operating system error";
    case RANKTREE_ERROR_UNSUPPORTED:
      return "unsupported request";
    case RANKTREE_ERROR_MEMORY:
      return "out of memory";
    case RANKTREE_ERROR_INTERNAL:
      return "internal error";
    case RANKTREE_ERROR_MPI:
      return "MPI error";
    default:
      return "unknown status";
  }
}
