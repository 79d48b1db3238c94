// The writing side of a fill: finds a source, judges what it says, streams and stores it.
#pragma once

#include <memory>
#include <optional>

#include "digest/key.hpp"
#include "peers/directory.hpp"
#include "proxy/blocks/least_rate.hpp"
#include "proxy/blocks/unsized_object.hpp"
#include "proxy/fill/block_run.hpp"
#include "proxy/fill/fill.hpp"
#include "proxy/request/request.hpp"
#include "proxy/sources/upstream_request.hpp"
#include "proxy/tiers/object_blocks.hpp"
#include "proxy/tiers/tiers.hpp"
#include "proxy/upstream/fetch.hpp"

namespace proxy {

struct Worker;

struct FillJob {
  std::shared_ptr<Fill> fill;
  digest::Key key;
  std::unique_ptr<OwnedRequest> request;
  cache::Verdict how;                        // fetch, revalidate or complete
  std::shared_ptr<const cache::Entry> held;  // to be validated, completed, or to stand in; or null
  // Before it was known that it has to be fetched: what is purged since then is not stored.
  std::chrono::steady_clock::time_point asked;
  // To be asked for in place of the client's range, and without its If-Range: mostly the blocks
  // around it; then the fill may be listed.
  std::optional<http::AskedRange> instead = {};
  bool ask_siblings = false;  // whether a sibling may answer this request
  bool refresh = false;  // nobody waits: it is fetched to be stored, and a failure changes nothing
};

// Runs the job as a coroutine of its own on the worker's thread. The fill is published and
// finished, or failed, whatever happens.
void start_filling(Worker& worker, FillJob job);

class Filling {
 public:
  // A sibling's answer up to this size that could not be resumed elsewhere is shown to nobody
  // before it is whole: a sibling that dies is then replaced unseen.
  static constexpr std::uint64_t kHeldBack = 1 << 20;

  Filling(Worker& worker, FillJob job) : worker_(worker), job_(std::move(job)) {}
  net::Task<void> run();

 private:
  enum class Tried {
    answered,
    next,    // another source may do better
    origin,  // time was lost: no more neighbours
  };

  // Sources, in the order in which they are tried.
  net::Task<Tried> from_sibling(const peers::PeerRef& peer);
  net::Task<void> from_origin();
  net::Task<void> from_origin_anew();
  net::Task<void> from_origin_as_asked();

  net::Task<Outcome<const http::ResponseHead*>> ask(FetchPlan plan, cache::SourceKind source);
  [[nodiscard]] cache::Storability may_store_answer() const;
  [[nodiscard]] std::optional<PartAsked> part_for_sibling() const;
  [[nodiscard]] bool is_what_was_asked() const;
  net::Task<Tried> take_from_sibling(const peers::PeerRef& peer, std::chrono::microseconds waited);
  net::Task<Outcome<void>> rest_from_origin(Failure cut);
  [[nodiscard]] std::optional<http::ContentRange> joined_with_held() const;
  [[nodiscard]] bool answers_by_itself(unsigned status) const;
  net::Task<void> take_rest(const http::ContentRange& part);

  // What the answer is made of.
  [[nodiscard]] cache::Received received(cache::SourceKind source) const;
  std::shared_ptr<cache::Entry> receive(cache::SourceKind source);
  void publish(bool may_be_stored);
  // With a 304: whether it was ours, or is the client's, which has what we do not hold.
  bool take_unmodified(const cache::Entry& stale, bool asked_alone);
  bool hand_on_unmodified();
  [[nodiscard]] std::string tags_to_name(const cache::Entry* stale) const;
  bool stand_in(const std::shared_ptr<const cache::Entry>& stale, std::string_view why,
                std::chrono::seconds leave);
  void refuse_newcomers(bool shared);
  bool store(const std::shared_ptr<const cache::Entry>& entry);
  void drop_held();
  bool store_part(const std::shared_ptr<const cache::Entry>& part);
  void keep_what_came(const Failure& cut);

  // In blocks. Nothing: it is not, or cannot be, kept in blocks, and goes the other way.
  net::Task<std::optional<Outcome<void>>> pour_in_blocks(std::chrono::milliseconds idle);
  [[nodiscard]] bool becomes_object() const;
  [[nodiscard]] bool may_grow() const;
  net::Task<void> grow();
  net::Task<void> end_growing();
  bool store_grown();
  void store_begun();
  [[nodiscard]] bool length_is_known() const;
  void keep_what_has_grown(const Failure& cut);
  void drop_begun();
  [[nodiscard]] std::shared_ptr<const cache::Entry> object_of(std::uint64_t length) const;
  net::Task<bool> complete_in_blocks();
  std::shared_ptr<BlockRun> begin_run(const std::shared_ptr<const cache::Entry>& object);
  void publish_object(const std::shared_ptr<const cache::Entry>& object);
  void note_of_blocks(const peers::PeerRef& peer, std::chrono::microseconds waited,
                      const Outcome<void>& poured);
  [[nodiscard]] bool asks_for_less() const;
  net::Task<void> cut_to_size();

  // The body.
  net::Task<Outcome<void>> pour(std::chrono::milliseconds idle);
  net::Task<void> pour_to_the_end();
  net::Task<Outcome<void>> skip(std::uint64_t bytes);
  void next_block();
  void stop_storing();
  void outgrow_memory();
  bool store_body();
  void complete();
  [[nodiscard]] bool worth_finishing() const;
  bool unwanted();
  [[nodiscard]] bool too_slow() const;

  [[nodiscard]] FetchPlan to_origin(std::string head) const;
  [[nodiscard]] http::Targets targets() const;
  [[nodiscard]] const Request& request() const { return job_.request->get(); }
  [[nodiscard]] cache::Time now() const;
  void remark(std::string_view word, std::string_view about);

  Worker& worker_;
  FillJob job_;
  const std::shared_ptr<Filling*> self_ = std::make_shared<Filling*>(this);  // for the hook
  Provenance provenance_;
  std::optional<Fetch> fetch_;
  cache::Times times_{};
  std::shared_ptr<cache::Entry> entry_;
  std::optional<std::uint64_t> length_;
  std::shared_ptr<cache::Block> block_;
  std::uint32_t used_ = 0;                // bytes of block_
  std::optional<UnsizedObject> growing_;  // a body of unknown length, if it is to become an object
  const std::shared_ptr<DiskPatience> patience_ = std::make_shared<DiskPatience>();
  bool storing_ = false;
  bool windowed_ = false;  // the fill keeps no more of it than readers need
  bool published_ = false;
  bool cut_off_ = false;    // there is more of the body than of what is wanted of it
  bool held_back_ = false;  // not to be published before it is whole, unless it grows too large
  std::optional<LeastRate> rate_;  // that a sibling's body has to have
};

}  // namespace proxy
