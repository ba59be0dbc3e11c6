// Star attention: every relay attends to itself and to the satellites of its text.

template <class T> struct Star {
    const T *satellites;      // tokens × D
    const T *relay;           // texts × D
    const int64_t *starts;    // texts + 1
    const T *alpha;           // heads
    const T *folded;          // heads × texts × D, or null: scores are set
    const T *shift;           // texts × heads
    const T *scores;          // tokens × heads
    const T *own_scores;      // texts × heads
    int64_t texts, heads, dim;

    const T *key(int64_t head, int64_t text) const { return folded + (head * texts + text) * dim; }
};

// A tile of vectors stays in the L1 cache while all heads read it.
constexpr int64_t TILE = 32;
INLINE int64_t tile(int64_t first, int64_t count) { return first + TILE < count ? TILE : count - first; }

// Buffers of a thread, reused from text to text.
template <class T> struct Room {
    std::vector<T> numbers;
    T *get(size_t count) {
        if (numbers.size() < count) numbers.resize(count);
        return numbers.data();
    }
};

// out[h · stride + i] = vector i · row h, for H rows and two vectors at a time; vectors have the stride `dim`.
template <int H, class T>
INLINE void dots(const T *vectors, int64_t count, int64_t dim, const T *const *rows, T *out, int64_t stride) {
    for (int64_t i = 0; i < count; i += 2) {
        const T *x = vectors + i * dim, *y = i + 1 < count ? x + dim : x;
        Vec<T> held[2 * N] = {};
        const auto take = [&](int64_t d, Vec<T> mask, int width) {
            const Vec<T> u = load_some(x + d, width) * mask, v = load_some(y + d, width) * mask;
            for (int h = 0; h < H; ++h) {
                const Vec<T> row = load_some(rows[h] + d, width);
                held[h] += u * row;
                held[N + h] += v * row;
            }
        };
        int64_t d = 0;
        for (; d + N <= dim; d += N) take(d, splat(T(1)), N);
        if (d < dim && dim > N) {
            // Eight numbers that overlap the previous ones, which are masked.
            Vec<T> mask = splat(T(1));
            for (int i = 0; i < N - int(dim - d); ++i) mask[i] = 0;
            take(dim - N, mask, N);
        } else if (d < dim)
            take(d, splat(T(1)), int(dim - d));
        const Vec<T> of_x = sums<T>(held), of_y = sums<T>(held + N);
        for (int h = 0; h < H; ++h) out[h * stride + i] = of_x[h];
        if (y != x)
            for (int h = 0; h < H; ++h) out[h * stride + i + 1] = of_y[h];
    }
}
// The same for any number of heads, with rows from `row`.
template <class T, class Row>
INLINE void all_dots(const T *vectors, int64_t count, int64_t dim, int64_t heads, Row row, T *out, int64_t stride) {
    for (int64_t first = 0; first < heads;) {
        const T *rows[5];
        const int64_t left = heads - first;
        const int here = left >= 5 ? 5 : int(left);
        for (int h = 0; h < here; ++h) rows[h] = row(first + h);
        T *to = out + first * stride;
        switch (here) {
        case 5: dots<5>(vectors, count, dim, rows, to, stride); break;
        case 4: dots<4>(vectors, count, dim, rows, to, stride); break;
        case 3: dots<3>(vectors, count, dim, rows, to, stride); break;
        case 2: dots<2>(vectors, count, dim, rows, to, stride); break;
        default: dots<1>(vectors, count, dim, rows, to, stride);
        }
        first += here;
    }
}

// The maximum over vectors and the first that has it, counted from `begin`; continues from the previous values unless it
// is the text's first tile.
template <class T>
INLINE void highest(const T *vectors, int64_t count, int64_t dim, int64_t begin, bool first_tile, T *top,
                    int64_t *where) {
    for (int64_t d = 0; d < dim; d += N) {
        // The last eight may overlap the previous ones, which does not change a maximum.
        const int64_t at = d + N <= dim || dim < N ? d : dim - N;
        const int width = int(dim < N ? dim : N);
        Vec<T> best = load_some(vectors + at, width);
        Ints<T> best_at = Ints<T>{};
        for (int64_t i = 1; i < count; ++i) {
            const Vec<T> v = load_some(vectors + i * dim + at, width);
            const Ints<T> higher = v > best, here = Ints<T>{} + decltype(best_at[0] + 0)(i);
            best_at = higher ? here : best_at;
            best = higher ? v : best;
        }
        for (int lane = 0; lane < width; ++lane)
            if (first_tile || best[lane] > top[at + lane])
                top[at + lane] = best[lane], where[at + lane] = begin + best_at[lane];
    }
}

// to += Σ factor · from over `terms` vectors.
template <class T>
INLINE void accumulate(T *to, const T *factor, const T *const *from, int terms, int64_t dim) {
    int64_t d = 0;
    for (; d + 4 * N <= dim; d += 4 * N) {
        Vec<T> a = load(to + d), b = load(to + d + N), c = load(to + d + 2 * N), e = load(to + d + 3 * N);
        for (int i = 0; i < terms; ++i) {
            const T *x = from[i] + d;
            a += factor[i] * load(x);
            b += factor[i] * load(x + N);
            c += factor[i] * load(x + 2 * N);
            e += factor[i] * load(x + 3 * N);
        }
        store(to + d, a), store(to + d + N, b), store(to + d + 2 * N, c), store(to + d + 3 * N, e);
    }
    for (; d < dim; d += N) {
        const int rest = int(dim - d < N ? dim - d : N);
        Vec<T> a = load_some(to + d, rest);
        for (int i = 0; i < terms; ++i) a += factor[i] * load_some(from[i] + d, rest);
        store_some(to + d, a, rest);
    }
}

// to(head) = first[head] · x + Σ_i factors[head · stride + i] · vector i, over the vectors of one text.
template <class T, class To>
INLINE void mix(const T *vectors, int64_t count, int64_t dim, int64_t heads, const T *factors, int64_t stride,
                const T *own_factors, const T *own, To to) {
    for (int64_t h = 0; h < heads; ++h) {
        T *row = to(h);
        for (int64_t d = 0; d < dim; ++d) row[d] = own_factors[h] * own[d];
    }
    for (int64_t first = 0; first < count; first += TILE) {
        const int64_t last = first + tile(first, count);
        for (int64_t h = 0; h < heads; ++h) {
            const T *f = factors + h * stride;
            const T *from[TILE];
            T factor[TILE];
            int terms = 0;
            for (int64_t i = first; i < last; ++i)
                if (f[i] != 0) {
                    factor[terms] = f[i];
                    from[terms++] = vectors + i * dim;
                }
            if (terms) accumulate<T>(to(h), factor, from, terms, dim);
        }
    }
}

template <class T>
void star_forward(const Star<T> &s, int64_t first_text, int64_t last_text, T *mixture, T *weights, T *own_weights,
                  T *maximum_, int64_t *where) {
    const int64_t heads = s.heads, dim = s.dim;
    Room<T> room, values;
    std::vector<int64_t> places;
    for (int64_t text = first_text; text < last_text; ++text) {
        const int64_t begin = s.starts[text], count = s.starts[text + 1] - begin, stride = count + 1;
        const T *vectors = s.satellites + begin * dim, *own = s.relay + text * dim;
        // Row `head` of z: the relay's own score, then those of the tokens.
        T *z = room.get(heads * stride), *value = values.get(stride + N);
        if (int64_t(places.size()) < stride + N) places.resize(stride + N);
        auto key = [&](int64_t head) { return s.key(head, text); };
        for (int64_t first = 0; first < count; first += TILE) {
            const T *here = vectors + first * dim;
            if (s.folded) all_dots<T>(here, tile(first, count), dim, heads, key, z + 1 + first, stride);
            highest<T>(here, tile(first, count), dim, begin + first, first == 0, maximum_ + text * dim, where + text * dim);
        }
        if (s.folded) {
            all_dots<T>(own, 1, dim, heads, key, z, stride);
            for (int64_t head = 0; head < heads; ++head)
                for (int64_t i = 0; i < stride; ++i) z[head * stride + i] += s.shift[text * heads + head];
        } else {
            for (int64_t head = 0; head < heads; ++head) {
                z[head * stride] = s.own_scores[text * heads + head];
                for (int64_t i = 0; i < count; ++i) z[head * stride + 1 + i] = s.scores[(begin + i) * heads + head];
            }
        }
        for (int64_t head = 0; head < heads; ++head) {
            T *row = z + head * stride;
            entmax_row<T>(row, stride, s.alpha[head] - 1, value, places.data());
            own_weights[text * heads + head] = row[0];
            for (int64_t i = 0; i < count; ++i) weights[(begin + i) * heads + head] = row[1 + i];
        }
        std::vector<T> own_factors(heads);
        for (int64_t head = 0; head < heads; ++head) own_factors[head] = z[head * stride];
        mix<T>(vectors, count, dim, heads, z + 1, stride, own_factors.data(), own,
               [&](int64_t head) { return mixture + (head * s.texts + text) * dim; });
    }
}

// Adds to `by_alpha` (heads) and overwrites everything else.
template <class T>
void star_backward(const Star<T> &s, int64_t first_text, int64_t last_text, const T *gradient,
                   const T *maximum_gradient, const int64_t *where, const T *weights, const T *own_weights,
                   T *by_satellites, T *by_relay, T *by_folded, T *by_scores, T *by_own_scores, T *by_alpha) {
    const int64_t heads = s.heads, dim = s.dim;
    Room<T> gradients, probabilities;
    std::vector<T> own_factors(heads), factors(2 * heads);
    std::vector<const T *> from(2 * heads);
    for (int64_t text = first_text; text < last_text; ++text) {
        const int64_t begin = s.starts[text], count = s.starts[text + 1] - begin, stride = count + 1 + N;
        const T *vectors = s.satellites + begin * dim, *own = s.relay + text * dim;
        T *g = gradients.get(heads * stride), *p = probabilities.get(heads * stride);
        auto incoming = [&](int64_t head) { return gradient + (head * s.texts + text) * dim; };
        all_dots<T>(own, 1, dim, heads, incoming, g, stride);
        for (int64_t first = 0; first < count; first += TILE)
            all_dots<T>(vectors + first * dim, tile(first, count), dim, heads, incoming, g + 1 + first, stride);
        for (int64_t head = 0; head < heads; ++head) {
            T *row = p + head * stride;
            row[0] = own_weights[text * heads + head];
            for (int64_t i = 0; i < count; ++i) row[1 + i] = weights[(begin + i) * heads + head];
            for (int64_t i = count + 1; i < stride; ++i) row[i] = g[head * stride + i] = 0;
            by_alpha[head] += entmax_row_backward<T>(row, g + head * stride, count + 1, s.alpha[head] - 1);
            by_own_scores[text * heads + head] = g[head * stride];
            for (int64_t i = 0; i < count; ++i) by_scores[(begin + i) * heads + head] = g[head * stride + 1 + i];
        }
        // Gradients of the vectors, the relay last, from the mixture and from the scores.
        for (int64_t i = 0; i <= count; ++i) {
            const int64_t at = i < count ? i + 1 : 0;
            T *to = i < count ? by_satellites + (begin + i) * dim : by_relay + text * dim;
            int terms = 0;
            for (int64_t head = 0; head < heads; ++head) {
                const T weight = p[head * stride + at], score = g[head * stride + at];
                if (weight != 0) factors[terms] = weight, from[terms++] = incoming(head);
                if (s.folded && score != 0) factors[terms] = score, from[terms++] = s.key(head, text);
            }
            for (int64_t d = 0; d < dim; ++d) to[d] = 0;
            accumulate<T>(to, factors.data(), from.data(), terms, dim);
        }
        for (int64_t d = 0; d < dim; ++d)
            by_satellites[where[text * dim + d] * dim + d] += maximum_gradient[text * dim + d];
        if (s.folded) {
            for (int64_t head = 0; head < heads; ++head) own_factors[head] = g[head * stride];
            mix<T>(vectors, count, dim, heads, g + 1, stride, own_factors.data(), own,
                   [&](int64_t head) { return by_folded + (head * s.texts + text) * dim; });
        }
    }
}
