// Dropout, layer norm and leaky ReLU of each token, in one pass; the dropout mask is that of dropout.py, with the
// tokens' `numbers` or, without them, their positions.

constexpr double NORM_EPSILON = 1e-5, LEAK = 0.01;

template <class T> struct Dropout {
    uint32_t seed, limit;
    T scale;
    Dropout(double share, int64_t seed)
        : seed(uint32_t(seed)), limit(uint32_t(share * 16777216.0)), scale(T(1 / (1 - share))) {}
    // 8 numbers from position `first` on.
    INLINE Vec<T> apply(Vec<T> v, uint64_t first) const {
        Words x = uint32_t(first) + Words{0, 1, 2, 3, 4, 5, 6, 7};
        x = x * 0x9E3779B1u + seed;
        x ^= x >> 16;
        x *= 0x85EBCA6Bu;
        x ^= x >> 13;
        x *= 0xC2B2AE35u;
        x ^= x >> 16;
        Words kept = (Words)((x >> 8) >= limit);
        Ints<T> mask = __builtin_convertvector(__builtin_convertvector(kept & 1, Ints<float>), Ints<T>) != 0;
        return mask ? v * scale : splat(T(0));
    }
};

template <class T>
void norm_forward(const T *x, const T *weight, const T *bias, int64_t first, int64_t last, int64_t dim, double share,
                  int64_t seed, const int64_t *numbers, T *output, T *statistics) {
    const Dropout<T> dropout(share, seed);
    std::vector<T> held(dim + N);
    for (int64_t token = first; token < last; ++token) {
        const T *from = x + token * dim;
        T *to = output + token * dim;
        const uint64_t place = uint64_t(numbers ? numbers[token] : token) * dim;
        Vec<T> total = splat(T(0));
        for (int64_t i = 0; i < dim; i += N) {
            Vec<T> v = load_some(from + i, int(dim - i < N ? dim - i : N));
            if (share > 0) v = dropout.apply(v, place + i);
            store(&held[i], v);
            total += v;
        }
        const T mean = sum<T>(total) / dim;
        Vec<T> squares = splat(T(0));
        int64_t i = 0;
        for (; i + N <= dim; i += N) {
            Vec<T> d = load(&held[i]) - mean;
            squares += d * d;
        }
        T square = sum<T>(squares);
        for (; i < dim; ++i) square += (held[i] - mean) * (held[i] - mean);
        const T rate = 1 / std::sqrt(square / dim + T(NORM_EPSILON));
        statistics[2 * token] = mean;
        statistics[2 * token + 1] = rate;
        for (i = 0; i < dim; i += N) {
            int count = int(dim - i < N ? dim - i : N);
            Vec<T> y = (load(&held[i]) - mean) * rate * load_some(weight + i, count) + load_some(bias + i, count);
            store_some(to + i, y > T(0) ? y : y * T(LEAK), count);
        }
    }
}

// Adds to `by_weight` and `by_bias`.
template <class T>
void norm_backward(const T *gradient, const T *output, const T *x, const T *statistics, const T *weight, int64_t first,
                   int64_t last, int64_t dim, double share, int64_t seed, const int64_t *numbers, T *by_x, T *by_weight,
                   T *by_bias) {
    const Dropout<T> dropout(share, seed);
    std::vector<T> centred(dim + N), inner(dim + N), added(2 * (dim + N));
    T *weight_sums = added.data(), *bias_sums = weight_sums + dim + N;
    for (int64_t token = first; token < last; ++token) {
        const T mean = statistics[2 * token], rate = statistics[2 * token + 1];
        const uint64_t place = uint64_t(numbers ? numbers[token] : token) * dim;
        Vec<T> total = splat(T(0)), along = splat(T(0));
        for (int64_t i = 0; i < dim; i += N) {
            int count = int(dim - i < N ? dim - i : N);
            Vec<T> v = load_some(x + token * dim + i, count);
            if (share > 0) v = dropout.apply(v, place + i);
            Vec<T> unit = (v - mean) * rate;
            Vec<T> out = load_some(output + token * dim + i, count), g = load_some(gradient + token * dim + i, count);
            g = out > T(0) ? g : g * T(LEAK);
            store(weight_sums + i, load(weight_sums + i) + g * unit);
            store(bias_sums + i, load(bias_sums + i) + g);
            // Beyond the end g is zero, so the value of `unit` does not matter.
            g *= load_some(weight + i, count);
            store(&centred[i], unit);
            store(&inner[i], g);
            total += g;
            along += g * unit;
        }
        const T mean_g = sum<T>(total) / dim, mean_along = sum<T>(along) / dim;
        for (int64_t i = 0; i < dim; i += N) {
            Vec<T> d = rate * (load(&inner[i]) - mean_g - load(&centred[i]) * mean_along);
            if (share > 0) d = dropout.apply(d, place + i);
            store_some(by_x + token * dim + i, d, int(dim - i < N ? dim - i : N));
        }
    }
    for (int64_t i = 0; i < dim; ++i) {
        by_weight[i] += weight_sums[i];
        by_bias[i] += bias_sums[i];
    }
}
