// Losses for trees, of one holder of rows and of two.
#include "fastpu/boosting/tree_loss.hpp"
#include "fuzz_input.hpp"

namespace {

using namespace fuzz;
using fastpu::Team;
using fastpu::TreeLossOptions;
using fastpu::TreeLossRows;
using fastpu::TreeLossScores;
using fastpu::TreeLossSums;
using fastpu::TreeLossTops;

void run(Input& input) {
  TreeLossOptions options;
  options.loss = input.one_of(fastpu::tree_losses()).name;
  options.gamma = input.wrong(input.share());
  options.prior = input.wrong(input.share());
  const index_t n = input.n_rows(0);
  const auto labels = fastpu::tree_loss_info(options.loss).takes_negatives ? labels_of(input, n, {1, 0, -1})
                                                                           : labels_of(input, n, {1, 0});
  std::vector<double> scores;
  std::vector<double> weights;
  std::vector<std::uint8_t> takes_part;
  const bool has_weights = input.flag();
  const bool has_part = input.flag();
  for (index_t i = 0; i < n; ++i) {
    scores.push_back(input.real());
    if (has_weights) weights.push_back(input.wrong(input.rarely(8) ? 0 : input.positive()));
    if (has_part) takes_part.push_back(input.rarely(4) ? 0 : 1);
  }
  const auto from = [](const auto& values, index_t first) { return values.empty() ? nullptr : values.data() + first; };
  Team team(input.n_threads(), {}, input.isa());
  Team baseline(1, {}, fastpu::Isa::baseline);
  std::vector<double> g(at(n));
  std::vector<double> h(at(n));
  double objective = 0;
  if (!accepted([&] {
        const TreeLossRows rows{labels.data(), from(weights, 0), n};
        const TreeLossScores all{scores.data(), from(takes_part, 0)};
        const auto loss = make_tree_loss(rows, options, team);
        const TreeLossTops tops = loss->tops(all, team);
        const TreeLossSums sums = loss->sums(all, tops, team);
        loss->derive(all, tops, sums, g.data(), h.data(), team);
        objective = loss->objective(tops, sums);
      })) {
    return;
  }
  FUZZ_CHECK(std::isfinite(objective) && all_finite(g) && all_finite(h));
  for (index_t i = 0; i < n; ++i) {
    FUZZ_CHECK(h[at(i)] >= 0);
    if (has_part && takes_part[at(i)] == 0) FUZZ_CHECK(g[at(i)] == 0 && h[at(i)] == 0);
  }
  // The same rows with two holders.
  const index_t middle = input.below(n + 1);
  const index_t starts[] = {0, middle, n};
  std::vector<std::unique_ptr<fastpu::TreeLoss>> losses;
  std::vector<TreeLossScores> parts;
  TreeLossTops tops;
  TreeLossSums sums;
  for (int k = 0; k < 2; ++k) {
    const TreeLossRows rows{labels.data() + starts[k], from(weights, starts[k]), starts[k + 1] - starts[k]};
    losses.push_back(make_tree_loss(rows, options, baseline));
    parts.push_back({scores.data() + starts[k], from(takes_part, starts[k])});
    tops.extend(losses.back()->tops(parts.back(), team));
  }
  for (std::size_t k = 0; k < 2; ++k) sums.add(losses[k]->sums(parts[k], tops, team));
  std::vector<double> same_g(at(n));
  std::vector<double> same_h(at(n));
  for (std::size_t k = 0; k < 2; ++k) {
    FUZZ_CHECK(losses[k]->objective(tops, sums) == objective);
    losses[k]->derive(parts[k], tops, sums, same_g.data() + starts[k], same_h.data() + starts[k], team);
  }
  FUZZ_CHECK(same_bits(same_g, g) && same_bits(same_h, h));
  // The same in as few passes as the loss needs.
  const auto whole = make_tree_loss({labels.data(), from(weights, 0), n}, options, baseline);
  whole->derive_alone({scores.data(), from(takes_part, 0)}, same_g.data(), same_h.data(), team);
  FUZZ_CHECK(same_bits(same_g, g) && same_bits(same_h, h));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  run(input);
  return 0;
}
