// α-entmax: Newton's method on the norm form, see plain.py in the parent folder for the formulas.

template <class T> struct Precision;
// A final step below this size is applied to the weights by their slopes; the remaining error is of second order.
template <> struct Precision<float> {
    static constexpr float last_step = 2e-5f;
    static constexpr int most_steps = 10;
};
template <> struct Precision<double> {
    static constexpr double last_step = 1e-11;
    static constexpr int most_steps = 40;
};

// Weight and slope (weight^(2 - α)) of distances y at threshold t; lanes outside the support are zero.
template <class T> INLINE void weigh(Vec<T> y, Vec<T> t, T epsilon, Vec<T> &weight, Vec<T> &slope) {
    Vec<T> below = y - t;
    if (epsilon == 0) {
        Vec<T> there = exponential(below);
        weight = slope = y > -std::numeric_limits<T>::infinity() ? there : splat(T(0));
        return;
    }
    Vec<T> x = below * epsilon;
    Ints<T> inside = x > T(-1) + std::numeric_limits<T>::epsilon() / 2;
    x = inside ? x : splat(T(0));
    Vec<T> inverse, log = logarithm_plus_1(x, inverse);
    weight = exponential(log * (1 / epsilon));
    slope = weight * inverse;
    weight = inside ? weight : splat(T(0));
    slope = inside ? slope : splat(T(0));
}
// The Newton step of the threshold for the sums of weights and slopes.
template <class T> INLINE Vec<T> newton_step(Vec<T> total, Vec<T> slopes, T epsilon) {
    Vec<T> log = logarithm(total);
    if (epsilon == 0) return log * total / slopes;
    Vec<T> grown = exponential_minus_1(log * epsilon);
    return grown * (1 / epsilon) * total / ((grown + T(1)) * slopes);
}

// A lower bound of the threshold: the weights are a convex function of the distances, so they sum to at
// least what they would at the mean distance. Exact if all are equal; max(0, ·) because the largest score alone is a bound.
template <class T> INLINE Vec<T> first_threshold(Vec<T> mean, T log_count, T epsilon) {
    const Vec<T> lift = epsilon == 0 ? splat(log_count) : exponential_minus_1(splat(-epsilon * log_count)) / -epsilon;
    return maximum<T>(mean + lift, splat(T(0)));
}

// Eight rows of `count` scores each, lane i is row i: replaces scores by weights. Missing scores are -inf; the score at
// `twice` counts as two entries.
template <class T> INLINE void entmax_lanes(Vec<T> *z, int count, int twice, T epsilon, Vec<T> *weight, Vec<T> *slope) {
    Vec<T> top = z[0];
    for (int k = 1; k < count; ++k) top = maximum<T>(top, z[k]);
    Vec<T> total = splat(T(0)), slopes, step;
    const int entries = count + (twice >= 0 ? 1 : 0);
    for (int k = 0; k < count; ++k) {
        z[k] -= top;
        total += k == twice ? z[k] * T(2) : z[k];
    }
    Vec<T> t = first_threshold<T>(total / T(entries), std::log(T(entries)), epsilon);
    for (int round = 1;; ++round) {
        total = slopes = splat(T(0));
        for (int k = 0; k < count; ++k) {
            weigh<T>(z[k], t, epsilon, weight[k], slope[k]);
            total += k == twice ? weight[k] * T(2) : weight[k];
            slopes += k == twice ? slope[k] * T(2) : slope[k];
        }
        step = newton_step<T>(total, slopes, epsilon);
        if (round == Precision<T>::most_steps || !any(step > Precision<T>::last_step)) break;
        t += step;
    }
    total = splat(T(0));
    for (int k = 0; k < count; ++k) {
        z[k] = maximum<T>(weight[k] - slope[k] * step, splat(T(0)));
        total += k == twice ? z[k] * T(2) : z[k];
    }
    Vec<T> scale = T(1) / total;
    for (int k = 0; k < count; ++k) z[k] *= scale;
}

// One row: replaces scores z by weights. `values` and `places` are buffers of count + N numbers each.
template <class T> void entmax_row(T *z, int64_t count, T epsilon, T *values, int64_t *places) {
    const T lowest = -std::numeric_limits<T>::infinity();
    T top = lowest;
    for (int64_t i = 0; i < count; ++i) top = z[i] > top ? z[i] : top;
    if (top == lowest) {
        for (int64_t i = 0; i < count; ++i) z[i] = 0;
        return;
    }
    // Scores more than 1 / ε below the maximum never get weight, because the threshold only rises.
    T reach = epsilon > 0 ? -1 / epsilon : lowest;
    int64_t active = 0;
    T step = 0, total = 0;
    for (int64_t i = 0; i < count; ++i) total += z[i] - top;
    T t = first_threshold<T>(splat(total / count), std::log(T(count)), epsilon)[0];
    for (int64_t i = 0; i < count; ++i) {
        values[active] = z[i] - top;
        places[active] = i;
        active += z[i] - top - t > reach;
        z[i] = 0;
    }
    bool done = false;
    for (int round = 0; !done; ++round) {
        for (int64_t i = active; i < active + N; ++i) values[i] = lowest;
        Vec<T> sum_of_weights = splat(T(0)), sum_of_slopes = splat(T(0)), weight, slope;
        int64_t inside = 0;
        Ints<T> count_inside = Ints<T>{};
        for (int64_t i = 0; i < active; i += N) {
            weigh<T>(load(values + i), splat(t), epsilon, weight, slope);
            sum_of_weights += weight;
            sum_of_slopes += slope;
            count_inside -= weight > T(0);
        }
        for (int i = 0; i < N; ++i) inside += count_inside[i];
        total = sum<T>(sum_of_weights);
        step = newton_step<T>(splat(total), splat(sum<T>(sum_of_slopes)), epsilon)[0];
        done = !(step > Precision<T>::last_step) || round + 1 == Precision<T>::most_steps;
        if (done) break;
        t += step;
        if (epsilon > 0 && inside < active - active / 8) {
            int64_t kept = 0;
            for (int64_t i = 0; i < active; ++i) {
                T value = values[i];
                int64_t place = places[i];
                values[kept] = value;
                places[kept] = place;
                kept += value - t > reach;
            }
            active = kept;
        }
    }
    total = 0;
    Vec<T> weight, slope;
    for (int64_t i = 0; i < active; i += N) {
        weigh<T>(load(values + i), splat(t), epsilon, weight, slope);
        weight = maximum<T>(weight - slope * step, splat(T(0)));
        store(values + i, weight);
        total += sum<T>(weight);
    }
    for (int64_t i = 0; i < active; ++i) z[places[i]] = values[i] / total;
}

// Terms of the gradients of a weight: its slope, and a and b of `_alpha_derivative` in plain.py.
template <class T> INLINE void derivatives(Vec<T> p, T epsilon, Vec<T> &slope, Vec<T> &log, Vec<T> &a, Vec<T> &b) {
    Ints<T> inside = p > std::numeric_limits<T>::min();
    log = logarithm(inside ? p : splat(T(1)));
    slope = inside ? p * exponential(log * -epsilon) : splat(T(0));
    Vec<T> x = log * -epsilon;
    Vec<T> grown = exponential_minus_1(x);
    a = epsilon > 0 ? grown / epsilon : -log;
    Vec<T> series = x * T(1. / 8) + T(1);
    for (int k = 7; k >= 4; --k) series = series * x * (T(1) / T(k)) + T(1);
    series = series * x * T(1. / 6) + T(0.5);
    Ints<T> large = x > T(0.05);
    Vec<T> safe = large ? x : splat(T(1));
    b = log * log * (large ? (grown - x) / (safe * safe) : series);
}
// Sums over a row for its gradients.
template <class T> struct RowSums {
    Vec<T> slope{}, weighted{}, pa{}, pb{}, entropy{};
    INLINE void add(Vec<T> p, Vec<T> g, Vec<T> s, Vec<T> log, Vec<T> a, Vec<T> b) {
        slope += s;
        weighted += g * s;
        pa += p * a;
        pb += p * b;
        entropy -= p * log;
    }
};
// A weight's summand of the derivative by α.
template <class T, class S>
INLINE Vec<T> alpha_share(Vec<T> p, Vec<T> g, Vec<T> log, Vec<T> a, Vec<T> b, S slopes, S pa, S pb, S entropy) {
    return g * p * (pb - b - log * pa - a * entropy) / slopes;
}

// Eight rows: replaces gradients g of weights by gradients of scores (of one of the two entries at `twice`); returns
// the rows' derivatives by α.
template <class T>
INLINE Vec<T> entmax_lanes_backward(const Vec<T> *p, Vec<T> *g, int count, int twice, T epsilon, Vec<T> *slope,
                                    Vec<T> *log, Vec<T> *a, Vec<T> *b) {
    RowSums<T> rows;
    for (int k = 0; k < count; ++k) {
        derivatives<T>(p[k], epsilon, slope[k], log[k], a[k], b[k]);
        for (int times = 0; times < (k == twice ? 2 : 1); ++times)
            rows.add(p[k], g[k], slope[k], log[k], a[k], b[k]);
    }
    // Rows without any weight have gradient zero.
    Vec<T> slopes = rows.slope > T(0) ? rows.slope : splat(T(1));
    Vec<T> mean = rows.weighted / slopes, by_alpha = splat(T(0));
    for (int k = 0; k < count; ++k) {
        Vec<T> share = alpha_share<T>(p[k], g[k], log[k], a[k], b[k], slopes, rows.pa, rows.pb, rows.entropy);
        by_alpha += k == twice ? share * T(2) : share;
        g[k] = slope[k] * (g[k] - mean);
    }
    return by_alpha;
}

// One row: replaces gradients g by those of the scores. p and g are padded to whole vectors, p with zeros.
template <class T> T entmax_row_backward(const T *p, T *g, int64_t count, T epsilon) {
    RowSums<T> rows;
    Vec<T> slope, log, a, b;
    for (int64_t i = 0; i < count; i += N) {
        Vec<T> weight = load(p + i);
        derivatives<T>(weight, epsilon, slope, log, a, b);
        rows.add(weight, load(g + i), slope, log, a, b);
    }
    T slopes = sum<T>(rows.slope);
    slopes = slopes > 0 ? slopes : 1;
    T mean = sum<T>(rows.weighted) / slopes, pa = sum<T>(rows.pa), pb = sum<T>(rows.pb);
    T entropy = sum<T>(rows.entropy);
    Vec<T> by_alpha = splat(T(0));
    for (int64_t i = 0; i < count; i += N) {
        Vec<T> weight = load(p + i), gradient = load(g + i);
        derivatives<T>(weight, epsilon, slope, log, a, b);
        by_alpha += alpha_share<T>(weight, gradient, log, a, b, splat(slopes), splat(pa), splat(pb), splat(entropy));
        store(g + i, slope * (gradient - mean));
    }
    return sum<T>(by_alpha);
}
