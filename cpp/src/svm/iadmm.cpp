#include "svm/iadmm.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "linalg/cholesky.hpp"
#include "linalg/row_products.hpp"

namespace fastpu::detail {

namespace {

double norm(const std::vector<double>& x, index_t n) {
  double sum = 0;
  for (index_t f = 0; f < n; ++f) sum += x[at(f)] * x[at(f)];
  return std::sqrt(sum);
}

struct SumsOverRows {
  double primal = 0;   // |r|^2
  double margins = 0;  // |A b|^2
  double z = 0;        // |z|^2
  double loss = 0;     // cost max(1 - margin, 0) + c s margin
};

class Iadmm {
 public:
  Iadmm(const MarginData& data, const MarginTask& task, RowPass& pass, const MarginOptions& options, double* v);

  IadmmResult run(const MarginCallback& callback, const double* w0);

 private:
  void start(const double* w0);
  void update_rows();
  void update_block(const RowBlock& block);
  double slope(index_t i) const { return task_.side()[i] == task_.label()[i] ? 0.0 : task_.cost()[i]; }  // c s
  void update_b();
  void find_residuals();
  void balance(index_t n_iter);
  void factor();
  double largest_eigenvalue();
  void scaled_gram();
  Certificate certificate();
  void divide_by_deviation(std::vector<double>& x) const;

  const MarginData& data_;
  const MarginTask& task_;
  RowPass& pass_;
  const MarginOptions& options_;
  double* v_;
  index_t n_;
  index_t p_;
  bool is_exact_;
  bool wants_loss_ = false;
  double rho_;  // at first the mean of the costs
  double zeta_ = 0;
  std::vector<double> deviation_;  // d, and 1 for the intercept
  AlignedBuffer<double> lambda_;
  std::vector<double> b_;  // of scaled columns
  std::vector<double> old_b_;
  std::vector<double> unscaled_b_;
  std::vector<double> at_lambda_;  // A'lambda; the next ones are A'z, A'A b, A'1 and A'(c s)
  std::vector<double> old_at_lambda_;
  std::vector<double> at_z_;
  std::vector<double> old_at_z_;
  std::vector<double> at_ab_;
  std::vector<double> old_at_ab_;
  std::vector<double> at_one_;
  std::vector<double> at_cs_;
  AlignedBuffer<double> gram_;
  std::unique_ptr<Cholesky> factor_;
  std::vector<SumsOverRows> group_sums_;
  SumsOverRows sums_;
  double primal_ = 0;  // |r| and |s|, each divided by the factor of its eps, see iadmm.hpp
  double dual_ = 0;
  double log_ratio_ = 0;  // sum of log(primal / dual) since rho was last reconsidered
  index_t n_ratios_ = 0;
  index_t next_balance_ = 10;
};

Iadmm::Iadmm(const MarginData& data, const MarginTask& task, RowPass& pass, const MarginOptions& options, double* v)
    : data_(data),
      task_(task),
      pass_(pass),
      options_(options),
      v_(v),
      n_(task.n()),
      p_(pass.n_features()),
      is_exact_(pass.has_gram()),
      rho_((task.cost_of_side(1) + task.cost_of_side(-1)) / static_cast<double>(n_)),
      deviation_(make_vector<double>(pass.width(), "ADMM")),
      lambda_(n_, "multipliers of ADMM"),
      group_sums_(make_vector<SumsOverRows>(pass.n_groups(), "ADMM")) {
  for (std::vector<double>* vector : {&b_, &old_b_, &unscaled_b_, &at_lambda_, &old_at_lambda_, &at_z_, &old_at_z_,
                                      &at_ab_, &old_at_ab_, &at_one_, &at_cs_}) {
    *vector = make_vector<double>(pass.width(), "ADMM");
  }
  std::fill(deviation_.begin(), deviation_.end(), 1.0);
  std::copy_n(data.deviation(), p_, deviation_.data());
}

void Iadmm::divide_by_deviation(std::vector<double>& x) const {
  for (index_t f = 0; f < pass_.width(); ++f) x[at(f)] /= deviation_[at(f)];
}

// Computes A'A of scaled columns.
void Iadmm::scaled_gram() {
  const index_t width = pass_.width();
  gram_ = AlignedBuffer<double>(width * width, "the Gram matrix");
  if (task_.rows() == nullptr) {
    std::copy_n(data_.gram(pass_.team()), width * width, gram_.data());
  } else {
    pass_.gram(nullptr, gram_.data(), 0, nullptr,
               [](const RowBlock& block) { std::fill_n(block.scale, block.n, 1.0); });
  }
  double* const gram = gram_.data();
  const double* const deviation = deviation_.data();
  for (index_t f = 0; f < width; ++f) {
    for (index_t g = f; g < width; ++g) gram[f * width + g] /= deviation[f] * deviation[g];
    for (index_t g = 0; g < f; ++g) gram[f * width + g] = gram[g * width + f];
  }
}

// Estimates the largest eigenvalue of A'A by the power method, from a start that is unlikely to be orthogonal to the
// leading eigenvector. An estimate that is a little too small does no harm.
double Iadmm::largest_eigenvalue() {
  constexpr int kMostRounds = 200;
  constexpr double kAccuracy = 1e-4;
  auto x = make_vector<double>(pass_.width(), "ADMM");
  auto unscaled = make_vector<double>(pass_.width(), "ADMM");
  auto next = make_vector<double>(pass_.width(), "ADMM");
  for (index_t f = 0; f < pass_.width(); ++f) {
    x[at(f)] = f > p_ ? 0.0 : 1 + 0.5 * std::sin(static_cast<double>(3 * f + 1));
  }
  double value = 0;
  for (int round = 0; round < kMostRounds; ++round) {
    const double length = norm(x, p_ + 1);
    for (index_t f = 0; f <= p_; ++f) x[at(f)] /= length;
    for (index_t f = 0; f < pass_.width(); ++f) unscaled[at(f)] = x[at(f)] / deviation_[at(f)];
    double* const sums[] = {next.data()};
    pass_.run(unscaled.data(), 1, sums,
              [](const RowBlock& block) { std::copy_n(block.products, block.n, block.weights[0]); });
    divide_by_deviation(next);
    const double estimate = norm(next, p_ + 1);
    const bool is_done = estimate - value <= kAccuracy * estimate;
    value = estimate;
    if (is_done) break;
    std::swap(x, next);
  }
  return 1.01 * value;
}

void Iadmm::factor() {
  if (!factor_) factor_ = std::make_unique<Cholesky>(p_ + 1, pass_.team().isa(), "the factor of ADMM");
  double* to = factor_->matrix();
  for (index_t f = 0; f <= p_; ++f) {
    for (index_t g = f; g <= p_; ++g) to[f * factor_->stride() + g] = rho_ * gram_[f * pass_.width() + g];
    if (f < p_) to[f * factor_->stride() + f] += 1 / (deviation_[at(f)] * deviation_[at(f)]);
  }
  factor_->factor();
}

void Iadmm::start(const double* w0) {
  pass_.keep_packed();
  double* const sums[] = {at_one_.data(), at_cs_.data(), at_lambda_.data()};
  pass_.run(nullptr, 3, sums, [&](const RowBlock& block) {
    for (index_t k = 0; k < block.n; ++k) {
      const index_t i = block.first + k;
      const double label = task_.label()[i];
      const double down = slope(i);
      lambda_[i] = w0 == nullptr ? 0.0 : std::clamp(-(label * v_[i] + down), -task_.cost()[i], 0.0);
      block.weights[0][k] = label;
      block.weights[1][k] = label * down;
      block.weights[2][k] = label * lambda_[i];
    }
  });
  for (std::vector<double>* sum : {&at_one_, &at_cs_, &at_lambda_}) divide_by_deviation(*sum);
  if (w0 != nullptr) {
    for (index_t f = 0; f <= p_; ++f) b_[at(f)] = w0[f] * deviation_[at(f)];
  }
  if (is_exact_) {
    scaled_gram();
    factor();
  } else {
    zeta_ = rho_ * largest_eigenvalue();
  }
  if (w0 == nullptr) {  // b, z and lambda are zero, and b is updated first
    for (index_t f = 0; f <= p_; ++f) old_at_lambda_[at(f)] = rho_ * at_one_[at(f)];
    update_b();
  }
}

// Updates lambda and z of the rows of a block, given their products with b. No step of the loop depends on the one
// before, so that the compiler can take several rows at a time.
void Iadmm::update_block(const RowBlock& block) {
  const double per_rho = 1 / rho_;
  const double* const labels = task_.label() + block.first;
  const double* const costs = task_.cost() + block.first;
  double* const lambdas = lambda_.data() + block.first;
  double* const residuals = block.weights[2];  // not a sum of this pass
  for (index_t k = 0; k < block.n; ++k) {
    const double q = rho_ * (1 - labels[k] * block.products[k]) - lambdas[k];
    const double lambda = -std::min(std::max(q, 0.0), costs[k]);
    residuals[k] = (lambda - lambdas[k]) * per_rho;
    lambdas[k] = lambda;
    block.weights[0][k] = labels[k] * lambda;
    block.weights[1][k] = labels[k] * ((q + lambda) * per_rho);
  }
  const auto squares = [&](const double* x) {
    return sum_in_lanes<8>(0, block.n, [x](index_t k) { return x[k] * x[k]; });
  };
  SumsOverRows& sums = group_sums_[at(block.group)];
  sums.primal += squares(residuals);
  sums.margins += squares(block.products);
  sums.z += squares(block.weights[1]);
  if (!wants_loss_) return;
  for (index_t k = 0; k < block.n; ++k) {
    const double margin = labels[k] * block.products[k];
    sums.loss += costs[k] * std::max(1 - margin, 0.0) + slope(block.first + k) * margin;
  }
}

// Updates lambda and z of every row, and the sums that depend on them.
void Iadmm::update_rows() {
  std::swap(at_lambda_, old_at_lambda_);
  std::swap(at_z_, old_at_z_);
  std::swap(at_ab_, old_at_ab_);
  for (index_t f = 0; f < pass_.width(); ++f) unscaled_b_[at(f)] = b_[at(f)] / deviation_[at(f)];
  std::fill(group_sums_.begin(), group_sums_.end(), SumsOverRows{});
  double* const sums[] = {at_lambda_.data(), at_z_.data()};
  pass_.run(unscaled_b_.data(), 2, sums, [&](const RowBlock& block) { update_block(block); });
  divide_by_deviation(at_lambda_);
  divide_by_deviation(at_z_);
  sums_ = {};
  for (const SumsOverRows& of_group : group_sums_) {
    sums_.primal += of_group.primal;
    sums_.margins += of_group.margins;
    sums_.z += of_group.z;
    sums_.loss += of_group.loss;
  }
  // lambda has changed by rho (A b - 1 + z).
  for (index_t f = 0; f <= p_; ++f) {
    at_ab_[at(f)] = (at_lambda_[at(f)] - old_at_lambda_[at(f)]) / rho_ + at_one_[at(f)] - at_z_[at(f)];
  }
}

void Iadmm::update_b() {
  std::copy_n(b_.data(), p_ + 1, old_b_.data());
  if (is_exact_) {
    for (index_t f = 0; f <= p_; ++f)
      b_[at(f)] = rho_ * (at_one_[at(f)] - at_z_[at(f)]) - at_lambda_[at(f)] - at_cs_[at(f)];
    factor_->solve(b_.data());
    return;
  }
  for (index_t f = 0; f <= p_; ++f) {
    // rho v: the change of lambda is rho (A b - 1 + z)
    const double gradient = 2 * at_lambda_[at(f)] - old_at_lambda_[at(f)] + at_cs_[at(f)];
    const double shrinkage = f < p_ ? 1 / (deviation_[at(f)] * deviation_[at(f)]) : 0.0;
    b_[at(f)] = (zeta_ * b_[at(f)] - gradient) / (zeta_ + shrinkage);
  }
}

void Iadmm::find_residuals() {
  double squared = 0;
  for (index_t f = 0; f <= p_; ++f) {
    double residual = rho_ * (at_z_[at(f)] - old_at_z_[at(f)]);
    if (!is_exact_) residual -= zeta_ * (b_[at(f)] - old_b_[at(f)]) - rho_ * (at_ab_[at(f)] - old_at_ab_[at(f)]);
    squared += residual * residual;
  }
  const double root = std::sqrt(static_cast<double>(n_));
  primal_ = std::sqrt(sums_.primal) / (root + std::max({std::sqrt(sums_.margins), std::sqrt(sums_.z), root}));
  dual_ = std::sqrt(squared) / (std::sqrt(static_cast<double>(p_ + 1)) + norm(at_lambda_, p_ + 1));
}

// Records the ratio of the relative residuals. At certain iterations rho is adapted if the mean ratio since the last
// time is far from 1.
void Iadmm::balance(index_t n_iter) {
  const double root = std::sqrt(static_cast<double>(n_));
  const double primal = std::sqrt(sums_.primal) / std::max({std::sqrt(sums_.margins), std::sqrt(sums_.z), root});
  double squared = 0;
  for (index_t f = 0; f <= p_; ++f) squared += (at_z_[at(f)] - old_at_z_[at(f)]) * (at_z_[at(f)] - old_at_z_[at(f)]);
  const double multipliers = norm(at_lambda_, p_ + 1);
  const double dual = multipliers > 0 ? rho_ * std::sqrt(squared) / multipliers : 0.0;
  if (primal > 0 && dual > 0) {
    log_ratio_ += std::log(primal / dual);
    ++n_ratios_;
  }
  if (n_iter < next_balance_) return;
  // The intervals grow, so that rho settles.
  next_balance_ = n_iter + std::max<index_t>(10, n_iter / 2);
  const double ratio = n_ratios_ > 0 ? std::exp(log_ratio_ / static_cast<double>(n_ratios_)) : 1.0;
  log_ratio_ = 0;
  n_ratios_ = 0;
  constexpr double kFar = 10;
  if (ratio <= kFar && ratio >= 1 / kFar) return;
  rho_ *= std::clamp(std::sqrt(ratio), 0.1, 10.0);
  factor();
}

// The certificate of the present b and lambda; v is made feasible for it.
Certificate Iadmm::certificate() {
  for (index_t i = 0; i < n_; ++i) {
    const double label = task_.label()[i];
    v_[i] = -label * (lambda_[i] + slope(i));
  }
  make_feasible(task_, v_);
  Certificate of_b = certify(pass_, task_, v_, unscaled_b_.data());
  if (of_b.holds(options_.tol)) return of_b;
  Certificate of_v = certify(pass_, task_, v_);
  return of_v.gap < of_b.gap ? std::move(of_v) : std::move(of_b);
}

IadmmResult Iadmm::run(const MarginCallback& callback, const double* w0) {
  constexpr index_t kUsualIterations = 100'000;
  constexpr double kLeastEps = 1e-15;
  const index_t most = options_.max_iter > 0 ? options_.max_iter : kUsualIterations;
  wants_loss_ = static_cast<bool>(callback);
  start(w0);
  IadmmResult result;
  double eps = std::min(1e-3, 10 * options_.tol);
  double gap = kInfinity;
  for (;;) {
    update_rows();
    find_residuals();
    ++result.n_iter;
    if (result.n_iter > 1 && primal_ <= eps && dual_ <= eps) {
      result.certificate = certificate();
      gap = result.certificate.gap;
      if (result.certificate.holds(options_.tol)) return result;
      if (eps <= kLeastEps) {
        result.status = MarginStatus::precision;
        return result;
      }
      eps *= 0.2;
    }
    if (result.n_iter >= most) {
      result.certificate = certificate();
      result.status = result.certificate.holds(options_.tol) ? MarginStatus::gap : MarginStatus::max_iter;
      return result;
    }
    if (callback) {
      double squared = 0;
      for (index_t f = 0; f < p_; ++f) squared += unscaled_b_[at(f)] * unscaled_b_[at(f)];
      if (callback({result.n_iter, 0.5 * squared + sums_.loss, gap})) {
        result.certificate = certificate();
        result.status = MarginStatus::callback;
        return result;
      }
    }
    if (is_exact_) balance(result.n_iter);
    update_b();
  }
}

}  // namespace

IadmmResult iadmm(const MarginData& data, const MarginTask& task, RowPass& pass, const MarginOptions& options,
                  const MarginCallback& callback, double* v, const double* w0) {
  return Iadmm(data, task, pass, options, v).run(callback, w0);
}

}  // namespace fastpu::detail
