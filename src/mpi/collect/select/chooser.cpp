#include "mpi/collect/select/chooser.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/predict/candidates.h"
#include "core/predict/choice.h"
#include "core/predict/parameters.h"
#include "core/predict/rules.h"
#include "core/predict/wishes.h"
#include "core/schedule/makers.h"
#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/context.h"
#include "mpi/collect/execute/vector_exchange.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/process.h"
#include "mpi/collect/select/account.h"
#include "mpi/collect/select/learned.h"
#include "mpi/collect/select/links.h"
#include "mpi/collect/select/log.h"
#include "mpi/collect/select/proposals.h"
#include "mpi/collect/select/reproducible.h"
#include "mpi/collect/select/tuning_entry.h"
#include "mpi/collect/settings.h"
#include "mpi/collect/shared/node_team.h"
#include "mpi/collect/shared/shared_variant.h"
#include "mpi/collect/thread_state.h"
#include "mpi/collect/variant.h"
#include "mpi/simulated.h"

namespace ranktree::mpi::collect {
namespace {

using core::predict::Candidate;
using core::predict::Choice;
using core::predict::Parameters;
using core::predict::Variant;
using core::schedule::Collective;

constexpr TuningEntry::Clock kClock = kRanksShareProcess ? TuningEntry::Clock::kExact : TuningEntry::Clock::kNoisy;

// Calls whose sizes are not known to all ranks are tried as if they had these.
constexpr std::int64_t kUnknownBytes = 16384;

std::string text_of(const std::vector<Candidate>& candidates) {
  std::string text;
  for (const Candidate& each : candidates) text += to_text(each.choice) + ' ';
  return text;
}

// Of one kind of call.
struct Tried {
  Kind kind;
  TuningEntry entry;
  // The last call that was served by its variant, where its type and operation are predefined: calls that are equal in
  // these can be served so again.
  const Choice* choice = nullptr;
  MPI_Datatype type{};
  MPI_Op op{};
  bool proposes = false;  // at the next call
  // What is proposed next: all candidates; shared memory alone, without a search; all others, behind it.
  enum class Next : std::uint8_t { kAll, kGuess, kOthers } next = Next::kAll;

  [[nodiscard]] bool is_like_last(const Operation& operation) const {
    return choice != nullptr && type == operation.receive.type && op == operation.op;
  }
};

class Selector final : public Chooser {
 public:
  Selector(Context& context, Settings settings);
  ~Selector() override;
  Selector(const Selector&) = delete;
  Selector& operator=(const Selector&) = delete;
  Selector(Selector&&) = delete;
  Selector& operator=(Selector&&) = delete;

  Decision begin(const Operation& operation, const Kind& kind, bool blocking) override;
  void end(const Decision& decision) override;
  [[nodiscard]] bool is_deciding(const Operation& operation) const override;
  void make_ready() override;

 private:
  [[nodiscard]] std::uint32_t native_calls(Collective collective, std::size_t kind, std::size_t size) const;
  [[nodiscard]] const Choice* rule_for(Collective collective, const Kind& kind) const;
  Decision by_rule(const Operation& operation, const Kind& kind, bool blocking);
  void remember_rule(const Operation& operation, const Kind& kind) noexcept;
  Decision automatic(const Operation& operation, const Kind& kind, bool blocking);
  const Choice* unless_it_cannot(const Choice* choice, const Operation& operation, const Kind& kind, Tried& tried);
  bool make_shared_memory();
  Budget agree(std::span<double> samples);
  bool can_begin_with(const Choice& known, const Operation& operation, const Budget& budget);
  bool begin_tuning(const Operation& operation, const Kind& kind);
  void propose(std::size_t at, const Operation& operation, const Kind& kind);
  // Of the next proposal; nothing where none is needed.
  [[nodiscard]] std::optional<Account::SetUp> next_set_up(const Tried& tried) const;
  [[nodiscard]] TuningEntry::Funds funds(const Budget& budget, const Tried& tried) const;
  void keep(const Tried& tried);
  void reserve_one();
  void follow(std::size_t at, TuningEntry::Step step);
  Decision counted(const Operation& operation, Decision decision);
  void add(const Kind& kind, std::unique_ptr<Tried> tried);
  // Null where the kind has not been tried.
  [[nodiscard]] Tried* tried_of(const Kind& kind) const {
    const std::size_t at = table_.tuned[kind.index];
    return at == 0 ? nullptr : tried_[at - 1].get();
  }
  [[nodiscard]] bool repeats(const Choice& choice) const {
    return choice.variant == Variant::kShared && context_.node_count() == 1;
  }

  Context& context_;
  Settings settings_;
  Parameters parameters_;
  bool has_first_kind_ = false;  // links are measured, shared memory is made
  Agreements agreements_;
  Budget known_;  // of the last agreement
  DecisionLog log_;
  CallTable& table_;
  // Of the kinds that are tuned or go through shared memory by rule (nothing tried), as CallTable::tuned numbers them.
  std::vector<std::unique_ptr<Tried>> tried_;
  std::vector<Repeat> repeats_;
};

bool is_unknown(Collective collective, std::size_t kind) { return !reduces(collective) && kind == kUnknown; }

// Whether a rule may fit some call of a size. A rule with a size fits no call of unknown size.
bool touches(const core::predict::Rule& rule, std::size_t size, bool unknown) {
  if (unknown) return rule.bytes == core::predict::Interval<std::int64_t>{};
  if (size == 0) return rule.bytes.has(0);
  const std::int64_t first = least_bytes(size);
  return rule.bytes.last >= first && (size + 1 == kSizes || rule.bytes.first < 2 * first);
}

Selector::Selector(Context& context, Settings settings)
    : context_(context),
      settings_(std::move(settings)),
      parameters_(parameters_for(context, settings_)),
      log_(context.process().environment, context.rank(), context.size(), context.node_count()),
      table_(context.table()) {
  table_.message = settings_.message.c_str();
  if (!settings_.message.empty()) log_.line(settings_.message);
  if (settings_.rules) {
    std::erase_if(settings_.rules->rules, [&](const core::predict::Rule& rule) {
      return !rule.ranks.has(context.size()) || !rule.nodes.has(context.node_count());
    });
  }
  for (std::size_t collective = 0; collective < kCollectives; ++collective) {
    for (std::size_t kind = 0; kind < kKinds.at(collective); ++kind) {
      for (std::size_t size = 0; size < kSizes; ++size) {
        table_.native.at(kind_index(static_cast<Collective>(collective), kind, size)) =
            native_calls(static_cast<Collective>(collective), kind, size);
      }
    }
  }
  const bool reproducible = context.reproducible().value_or(settings_.reproducible);
  context.set_reproducible(reproducible);
  if (reproducible) look_at_reductions(table_);
}

// How many calls of a kind are native at first.
std::uint32_t Selector::native_calls(Collective collective, std::size_t kind, std::size_t size) const {
  // Without bytes nothing is moved, except where no rank knows the sizes of all.
  const bool unknown = is_unknown(collective, kind);
  if (size == 0 && collective != Collective::kBarrier && !unknown) return CallTable::kForEver;
  if (settings_.rules) {
    const std::vector<core::predict::Rule>& rules = settings_.rules->rules;
    const bool served = std::any_of(rules.begin(), rules.end(), [&](const core::predict::Rule& rule) {
      return rule.collective == collective && rule.choice.variant != Variant::kNative && touches(rule, size, unknown);
    });
    return served ? 0 : CallTable::kForEver;
  }
  const core::predict::Wish& wish = settings_.wishes.at(static_cast<std::size_t>(collective));
  if (wish.automatic) {
    if (unknown && (collective != Collective::kAlltoall || !has_lanes(context_))) return CallTable::kForEver;
    return TuningEntry::observed_calls(unknown ? kUnknownBytes : size == 0 ? 0 : least_bytes(size), kClock);
  }
  return wish.choice.variant == Variant::kNative ? CallTable::kForEver : 0;
}

Selector::~Selector() {
  log_.counts(table_);
  if (!log_.wanted()) return;
  [[maybe_unused]] const Failure lost = attempt([&] { log_.line(context_.process().account.text()); });
}

Chooser::Decision Selector::counted(const Operation& operation, Decision decision) {
  if (decision.choice->variant != Variant::kNative) ++table_.ours.at(static_cast<std::size_t>(operation.collective));
  return decision;
}

Chooser::Decision Selector::begin(const Operation& operation, const Kind& kind, bool blocking) {
  const auto collective = static_cast<std::size_t>(operation.collective);
  ++table_.calls.at(collective);
  std::uint32_t& left = table_.native[kind.index];
  if (left != 0) {
    if (blocking) count_down(left);
    return {};
  }
  const bool is_automatic = !settings_.rules && settings_.wishes.at(collective).automatic;
  return counted(operation, is_automatic ? automatic(operation, kind, blocking) : by_rule(operation, kind, blocking));
}

// Null where there is none.
const Choice* Selector::rule_for(Collective collective, const Kind& kind) const {
  if (!settings_.rules) return &settings_.wishes.at(static_cast<std::size_t>(collective)).choice;
  const std::vector<core::predict::Rule>& rules = settings_.rules->rules;
  const bool unknown = is_unknown(collective, kind.kind);
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const core::predict::Rule& rule) {
    return rule.collective == collective && (unknown ? touches(rule, 0, true) : rule.bytes.has(kind.bytes));
  });
  return found == rules.end() ? nullptr : &found->choice;
}

Chooser::Decision Selector::by_rule(const Operation& operation, const Kind& kind, bool blocking) {
  const Choice* const choice = rule_for(operation.collective, kind);
  if (choice == nullptr || choice->variant == Variant::kNative) return {};
  // Nonblocking calls are local: they make nothing together.
  const bool makes_team = choice->variant == Variant::kShared && !context_.has_node_team();
  if (!blocking && (makes_team || choice->variant == Variant::kLevels)) return {};
  const bool can = can_run(context_, operation, *choice);
  if (log_.wanted()) log_.rule(kind, *choice, can);
  if (!can) return {};
  if (blocking && !settings_.rules && repeats(*choice)) remember_rule(operation, kind);
  return {.choice = choice};
}

// For calls that take the fast path from now on. Without memory this rank takes the longer path, which is the same to
// others.
void Selector::remember_rule(const Operation& operation, const Kind& kind) noexcept {
  [[maybe_unused]] const Failure forgotten = attempt([&] {
    if (table_.tuned[kind.index] == 0) add(kind, nullptr);
    Repeat& last = repeats_[table_.tuned[kind.index] - 1U];
    last.left = CallTable::kForEver;
    remember(context_, operation, last);
  });
}

// Behind it add() does not fail.
void Selector::reserve_one() {
  const std::size_t enough = std::bit_ceil(tried_.size() + 1);
  tried_.reserve(enough);
  repeats_.reserve(enough);
  table_.repeats = repeats_.data();
}

void Selector::add(const Kind& kind, std::unique_ptr<Tried> tried) {
  reserve_one();
  repeats_.emplace_back();
  tried_.push_back(std::move(tried));
  table_.tuned[kind.index] = static_cast<std::uint16_t>(tried_.size());
}

Chooser::Decision Selector::automatic(const Operation& operation, const Kind& kind, bool blocking) {
  Tried* tried = tried_of(kind);
  if ((tried == nullptr || !tried->is_like_last(operation)) && !is_usual(context_, operation)) return {};
  if (!blocking) {
    if (tried == nullptr || tried->entry.on_trial()) return {};
    return {.choice = unless_it_cannot(&tried->entry.in_use(), operation, kind, *tried)};
  }
  if (tried == nullptr) {
    if (!begin_tuning(operation, kind)) return {};
    tried = tried_.back().get();
  }
  const std::size_t at = table_.tuned[kind.index] - 1U;
  if (tried->proposes) propose(at, operation, kind);
  if (Repeat& last = repeats_[at]; last.left > 0) {
    count_down(last.left);
    const Choice* const choice = unless_it_cannot(&tried->entry.in_use(), operation, kind, *tried);
    if (choice->variant == Variant::kShared) remember(context_, operation, last);
    return {.choice = choice};
  }
  if (table_.native[kind.index] > 0) {
    count_down(table_.native[kind.index]);
    return {};
  }
  const TuningEntry::Turn turn = tried->entry.next();
  Decision decision{.choice = unless_it_cannot(turn.choice, operation, kind, *tried),
                    .entry = at,
                    .timed = turn.timed,
                    .reads_clock = turn.reads_clock};
  if (turn.reads_clock) decision.started = PMPI_Wtime();
  return decision;
}

// Of a call that is usual.
const Choice* Selector::unless_it_cannot(const Choice* choice, const Operation& operation, const Kind& kind,
                                         Tried& tried) {
  if (tried.choice == choice && tried.is_like_last(operation)) return choice;
  if (!can_run(context_, operation, *choice)) return &native_choice();
  const bool fixed = kind.kind == 0 && is_known_named(operation.receive.type, thread_state().types);
  tried.choice = fixed ? choice : nullptr;
  tried.type = operation.receive.type;
  tried.op = operation.op;
  return choice;
}

// Collective the first time. Whether there is shared memory.
bool Selector::make_shared_memory() {
  return context_.node_count() < context_.size() && context_.node_team() != nullptr;
}

void Selector::make_ready() {
  const auto is_shared = [](const auto& each) { return each.choice.variant == Variant::kShared; };
  const bool named = settings_.rules
                         ? std::any_of(settings_.rules->rules.begin(), settings_.rules->rules.end(), is_shared)
                         : std::any_of(settings_.wishes.begin(), settings_.wishes.end(), is_shared);
  if (named) make_shared_memory();
}

bool Selector::is_deciding(const Operation& operation) const {
  const Kind kind = kind_of(operation, context_.rank(), thread_state().types);
  if (settings_.rules || !settings_.wishes.at(static_cast<std::size_t>(operation.collective)).automatic) return false;
  const Tried* const tried = tried_of(kind);
  return tried != nullptr ? tried->entry.on_trial() : table_.native[kind.index] != CallTable::kForEver;
}

std::optional<Account::SetUp> Selector::next_set_up(const Tried& tried) const {
  using SetUp = Account::SetUp;
  if (tried.next == Tried::Next::kGuess) return has_first_kind_ ? std::nullopt : std::optional(SetUp::kMemory);
  return has_first_kind_ ? SetUp::kKind : SetUp::kFirstKind;
}

TuningEntry::Funds Selector::funds(const Budget& budget, const Tried& tried) const {
  const auto what = next_set_up(tried);
  const double missing = what ? budget.missing(budget.estimate(*what)) : budget.agreement - budget.allowed;
  return {budget.allowed, budget.agreement, missing + budget.agreement, Account::kShare};
}

Budget Selector::agree(std::span<double> samples) {
  known_ = agreements_.agree(context_.comm(), context_.process(), samples, &context_);
  return known_;
}

void Selector::end(const Decision& decision) {
  if (!decision.timed) return;
  TuningEntry& entry = tried_[decision.entry]->entry;
  const double end = decision.reads_clock ? PMPI_Wtime() : 0;
  const std::uint64_t calls =
      decision.reads_clock ? std::accumulate(table_.calls.begin(), table_.calls.end(), std::uint64_t{0}) : 0;
  if (!entry.record(decision.started, end, calls)) return;
  const Choice* const before = &entry.winner();
  const Budget budget = agree(entry.unagreed());
  const TuningEntry::Step step = entry.agreed(funds(budget, *tried_[decision.entry]));
  context_.process().account.charge(Account::Cost::kTrials, entry.charge());
  if (step != TuningEntry::Step::kDecide && before != &entry.winner()) {
    log_.decision(tried_[decision.entry]->kind, entry);
    keep(*tried_[decision.entry]);
  }
  follow(decision.entry, step);
}

// Where calls are not tuned for now, the next ones need not come here; nor those that can be made directly.
void Selector::follow(std::size_t at, TuningEntry::Step step) {
  Tried& tried = *tried_[at];
  tried.proposes = step == TuningEntry::Step::kPropose;
  if (step == TuningEntry::Step::kContinue || tried.proposes) return;
  if (step == TuningEntry::Step::kDecide) {
    log_.decision(tried.kind, tried.entry);
    // Where other calls synchronise, another variant may be faster, and so may one that was not proposed yet.
    const bool others = tried.next == Tried::Next::kOthers && tried.entry.winner().variant == Variant::kNative;
    if (!tried.entry.runs_ahead() && !others) keep(tried);
  }
  if (!tried.entry.native_is_in_use() && !repeats(tried.entry.in_use())) return;
  (tried.entry.native_is_in_use() ? table_.native.at(tried.kind.index) : repeats_[at].left) = tried.entry.settled();
  tried.entry.pass_settled();
}

// Without memory it is forgotten.
void Selector::keep(const Tried& tried) {
  if (context_.rank() != 0) return;
  [[maybe_unused]] const Failure forgotten = attempt([&] {
    context_.process().learned.keep(shape_of(context_), decision_key(context_, tried.kind, parameters_),
                                    to_text(tried.entry.winner()));
  });
}

// Collective. Makes the shared memory that a known variant needs, where the account covers it.
bool Selector::can_begin_with(const Choice& known, const Operation& operation, const Budget& budget) {
  if (known.variant == Variant::kShared && !context_.has_node_team()) {
    if (budget.estimate(Account::SetUp::kMemory) > budget.allowed) return false;
    const double start = PMPI_Wtime();
    make_shared_memory();
    has_first_kind_ = true;
    context_.process().account.charge(Account::SetUp::kMemory, PMPI_Wtime() - start);
  }
  return can_run(context_, operation, known);
}

// Collective. False where the account does not cover the agreement: the kind stays native for as many calls as it
// lacks, of which long ones count as several; or where a rank has no memory for it: the kind stays native. On one node
// it begins with what rank 0 knows, which needs no candidates.
bool Selector::begin_tuning(const Operation& operation, const Kind& kind) {
  const TuningEntry::Funds before{.allowed = known_.allowed, .agreement = known_.agreement, .share = Account::kShare};
  if (const std::uint32_t calls = before.calls_until_agreement(); calls > 0) {
    table_.native[kind.index] = 1 + calls / std::max(1U, weight_of(kind.collective, kind.bytes));
    known_.allowed += Account::kShare * known_.agreement * calls;
    return false;
  }
  const bool unknown = is_unknown(kind.collective, kind.kind);
  std::unique_ptr<Tried> made;
  std::optional<Choice> known;
  std::array<double, 1> failed{};
  const Failure failure = attempt([&] {
    made = std::make_unique<Tried>(Tried{
        .kind = kind,
        .entry = TuningEntry(unknown ? kUnknownBytes : kind.bytes, context_.node_count() == 1,
                             unknown || may_run_ahead(kind.collective, kind.bytes), kClock),
        .next = context_.node_count() == 1 && in_memory_of_node(operation) ? Tried::Next::kGuess : Tried::Next::kAll});
    known = known_on_node(settings_.known, context_, kind);
    reserve_one();
  });
  failed[0] = failure.error_class == MPI_SUCCESS ? 0 : 1;
  const Budget budget = agree(failed);
  if (failed[0] != 0) {
    table_.native[kind.index] = CallTable::kForEver;
    return false;
  }
  const bool begins = known && can_begin_with(*known, operation, budget);
  if (begins && known->variant != Variant::kNative) made->next = Tried::Next::kAll;
  add(kind, std::move(made));
  TuningEntry& entry = tried_.back()->entry;
  follow(tried_.size() - 1, begins ? entry.start_with(std::move(*known)) : entry.start(funds(budget, *tried_.back())));
  return true;
}

// Collective: all ranks have the same candidates, or none. What the agreement takes is charged as one.
void Selector::propose(std::size_t at, const Operation& operation, const Kind& kind) {
  Tried& tried = *tried_[at];
  tried.proposes = false;
  const std::optional<Account::SetUp> what = next_set_up(tried);
  if (!has_first_kind_) context_.synchronise();
  const double start = PMPI_Wtime();
  if (!has_first_kind_ && !settings_.parameters && context_.node_count() > 1) measure_links(parameters_, context_);
  const bool shared = make_shared_memory();
  has_first_kind_ = true;
  const bool guesses = tried.next == Tried::Next::kGuess;
  std::optional<std::size_t> known;
  std::vector<Candidate> found;
  double own = 0;  // equal on all ranks, or nothing is tried
  const Failure failure = attempt([&] {
    found = guesses ? guess_for(context_, operation, shared)
                    : candidates_for(context_, parameters_, operation, kind, shared);
    tried.entry.add(found);
    if (tried.entry.on_trial()) known = known_among(found, settings_.known, context_, kind, parameters_);
    own = number_of(text_of(found));
  });
  std::array<double, 3> prints = {own, -own, failure.error_class == MPI_SUCCESS ? 0.0 : 1.0};
  Account& account = context_.process().account;
  const double seconds = PMPI_Wtime() - start;
  if (what) {
    account.charge(*what, seconds);
  } else {
    account.charge(Account::Cost::kSetUp, seconds);
  }
  const Budget budget = agree(prints);
  const bool valid = prints[0] == -prints[1] && prints[2] == 0;
  const bool cannot = guesses && valid && found.empty();
  tried.next = guesses && valid && !cannot ? Tried::Next::kOthers : Tried::Next::kAll;
  follow(at, cannot ? tried.entry.start(funds(budget, tried)) : tried.entry.propose(valid, known, !guesses));
}

}  // namespace

std::unique_ptr<Chooser> Chooser::make(Context& context) {
  std::string known;
  if (context.rank() == 0) {
    [[maybe_unused]] const Failure unknown = attempt([&] { known = context.process().learned.of(shape_of(context)); });
  }
  Settings settings = agreed_settings(context.comm(), context.process().environment, known);
  std::unique_ptr<Chooser> chooser;
  attempt_together(context.comm(), [&] { chooser = std::make_unique<Selector>(context, std::move(settings)); });
  return chooser;
}

}  // namespace ranktree::mpi::collect
