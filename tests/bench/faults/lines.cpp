#include "tests/bench/faults/lines.hpp"

#include <fmt/format.h>

#include <iostream>

namespace bench {
namespace {

std::string name_of(const Killing& killing) {
  const bool sibling = killing.victim == Killing::Victim::sibling;
  return fmt::format("{} killed{}, {}, {}", sibling ? "sibling" : "origin",
                     sibling ? "" : ", a sibling has it",
                     killing.validator == Validator::strong ? "ETag" : "no validator",
                     killing.disk ? "disk" : "memory");
}

const char* name_of(Excuse excuse) {
  if (excuse == Excuse::evictions) return "honest, a burst of evictions";
  return excuse == Excuse::variants ? "honest, many variants" : "honest, too old for clients";
}

}  // namespace

void print_head() {
  fmt::print("{:<34}{:>8}{:>8}{:>8}{:>8}{:>10}{:>7}{:>8}{:>8}\n", "", "p50 ms", "p98", "p99", "max",
             "> 100 ms", "wrong", "failed", "origin");
}

bool print(const std::string& name, const Figures& figures, const std::string& origin) {
  fmt::print("{:<34}{:>8.1f}{:>8.1f}{:>8.1f}{:>8.1f}{:>10}{:>7}{:>8}{:>8}\n", name, figures.p50,
             figures.p98, figures.p99, figures.max, figures.over_100_ms, figures.wrong,
             figures.failed, origin);
  std::cout.flush();
  return figures.wrong == 0 && figures.failed == 0;
}

void print_head_of_killed() {
  fmt::print("{:<54}{:>8}{:>6}{:>11}{:>10}{:>5}{:>7}\n", "", "first:", "", "", "retry:", "", "");
  fmt::print("{:<54}{:>8}{:>6}{:>11}{:>10}{:>5}{:>7}\n", "a body of 50 MB", "whole", "cut",
             "untouched", "whole", "cut", "wrong");
}

bool print(const Killing& killing, const Killed& killed) {
  const auto wrong = killed.first.wrong + killed.retry.wrong;
  fmt::print("{:<54}{:>8}{:>6}{:>11}{:>10}{:>5}{:>7}\n", name_of(killing), killed.first.whole,
             killed.first.cut, killed.untouched, killed.retry.whole, killed.retry.cut, wrong);
  std::cout.flush();
  const bool may_be_cut = killing.validator == Validator::none;
  return wrong == 0 && killed.retry.cut == 0 && (may_be_cut || killed.first.cut == 0);
}

bool print(Excuse excuse, const Honest& honest) {
  const bool well = print(name_of(excuse), honest.figures, "");
  fmt::print("   lost {} of {} hits; rested {}, outrun {}, false hits {}\n", honest.lost,
             honest.could, honest.rests, honest.outruns, honest.causes);
  std::cout.flush();
  return well;
}

}  // namespace bench
