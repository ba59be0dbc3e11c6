// Ring attention: every token attends to its neighbors, its token vector and its text's relay.
//
// Eight tokens at a time, one per lane. P is the number of pieces of eight in a head and W the window, if
// both are known at compile time, else 0 and -1. Weights and the scores' gradients are kept as blocks × heads × entries
// × lanes; a missing entry (a neighbor beyond the text's ends) has weight 0.

constexpr int MOST_PIECES = 64, MOST_ENTRIES = 64;

template <class T, int P, int W> struct Ring {
    const T *qkv;                // n × 3I
    const int64_t *rows;         // tokens, or null: row i is token i
    const T *own;                // m × 2I, or null: the satellites' own keys and values
    const int64_t *own_rows;     // tokens, or null
    const T *relay;              // texts × 2I
    const int64_t *starts;       // texts + 1
    const int64_t *blocks;       // texts: first block of each text
    const T *alpha;              // heads
    int64_t texts, heads, size, any_window;

    // A head's part of a vector is processed in pieces of eight. The last overlaps the one before if the size is not a
    // multiple of eight; for products the overlap is masked away.
    INLINE int pieces() const { return P ? P : int((size + N - 1) / N); }
    INLINE int at(int piece) const { return piece + 1 < pieces() ? piece * N : size < N ? 0 : int(size) - N; }
    INLINE int width() const { return P > 1 || size >= N ? N : int(size); }
    INLINE Vec<T> mask() const {
        Vec<T> found = splat(T(1));
        for (int i = 0; size >= N && i < N * pieces() - int(size); ++i) found[i] = 0;
        return found;
    }
    INLINE int window() const { return W >= 0 ? W : int(any_window); }
    // Neighbors, relay and, if it differs from the satellite, the token vector.
    INLINE int entries() const { return 2 * window() + 2 + (own ? 1 : 0); }
    INLINE int relay_entry() const { return 2 * window() + 1; }
    // The entry that counts twice: the satellite as neighbor 0 and as own token.
    INLINE int twice() const { return own ? -1 : window(); }

    INLINE int64_t inner() const { return heads * size; }
    INLINE const T *row(int64_t token) const { return qkv + 3 * inner() * (rows ? rows[token] : token); }

    // Address of the keys of entry k of a token; the values follow at distance `inner`.
    INLINE const T *keys(int64_t text, int64_t begin, int64_t end, int64_t token, int k) const {
        if (k < relay_entry()) {
            int64_t there = token + k - window();
            return row(there >= begin && there < end ? there : token) + inner();
        }
        if (k == relay_entry()) return relay + 2 * text * inner();
        return own + 2 * inner() * (own_rows ? own_rows[token] : token);
    }
};

// Per entry, lane = token: `vectors` of the token · the numbers at distance `offset` from the entry's keys.
template <class R, class T>
INLINE void entry_products(const R &r, const T *const *vectors, const T *const *keys, int64_t offset, Vec<T> *out) {
    const int pieces = r.pieces(), entries = r.entries(), width = r.width();
    const Vec<T> mask = r.mask();
    Vec<T> held[MOST_PIECES][N];
    for (int lane = 0; lane < N; ++lane) {
        for (int piece = 0; piece < pieces; ++piece) held[piece][lane] = load_some(vectors[lane] + r.at(piece), width);
        held[pieces - 1][lane] *= mask;
    }
    for (int k = 0; k < entries; ++k) {
        Vec<T> partial[N];
        for (int lane = 0; lane < N; ++lane) {
            const T *key = keys[k * N + lane] + offset;
            Vec<T> found = held[0][lane] * load_some(key + r.at(0), width);
            for (int piece = 1; piece < pieces; ++piece) found += held[piece][lane] * load(key + r.at(piece));
            partial[lane] = found;
        }
        out[k] = sums<T>(partial);
    }
}

// to = Σ factor · from over `count` terms, for one head's part.
template <class R, class T>
INLINE void combine(const R &r, T *to, const T *factors, const T *const *from, int64_t offset, int count) {
    const int pieces = r.pieces(), width = r.width();
    for (int piece = 0; piece < pieces; ++piece) {
        const int64_t at = offset + r.at(piece);
        Vec<T> held = factors[0] * load_some(from[0] + at, width);
        for (int i = 1; i < count; ++i) held += factors[i] * load_some(from[i] + at, width);
        store_some(to + r.at(piece), held, width);
    }
}

// The keys of all entries of eight tokens, from `first` on; lanes beyond the text's end repeat its last token.
template <class R, class T>
INLINE void block_keys(const R &r, int64_t text, int64_t begin, int64_t end, int64_t first, const T **keys) {
    for (int lane = 0; lane < N; ++lane) {
        const int64_t token = first + lane < end ? first + lane : end - 1;
        for (int k = 0; k < r.entries(); ++k) keys[k * N + lane] = r.keys(text, begin, end, token, k);
    }
}

// Rows are scattered over a table larger than the caches: prefetch those of the next block.
template <class R> INLINE void prefetch_block(const R &r, int64_t end, int64_t first) {
    constexpr int64_t LINE = 64 / sizeof(*r.qkv);
    for (int64_t token = first; token < first + N && token < end; ++token)
        for (int64_t i = 0; i < 3 * r.inner(); i += LINE) __builtin_prefetch(r.row(token) + i, 0, 2);
}

template <class T, class R>
void ring_forward_on(const R &r, int64_t first_text, int64_t last_text, T *context, T *weights) {
    const int64_t inner = r.inner();
    const int entries = r.entries(), window = r.window();
    for (int64_t text = first_text; text < last_text; ++text) {
        const int64_t begin = r.starts[text], end = r.starts[text + 1];
        T *kept = weights + r.blocks[text] * r.heads * entries * N;
        for (int64_t first = begin; first < end; first += N) {
            const T *keys[MOST_ENTRIES * N], *queries[N];
            block_keys(r, text, begin, end, first, keys);
            prefetch_block(r, r.starts[last_text], first + N);
            const bool edge = first - window < begin || first + N + window > end;
            const int count = int(end - first < N ? end - first : N);
            for (int64_t head = 0; head < r.heads; ++head, kept += entries * N) {
                const int64_t offset = head * r.size;
                for (int lane = 0; lane < N; ++lane)
                    queries[lane] = r.row(first + (lane < count ? lane : count - 1)) + offset;
                Vec<T> z[MOST_ENTRIES], weight[MOST_ENTRIES], slope[MOST_ENTRIES];
                entry_products(r, queries, keys, offset, z);
                if (edge)
                    for (int lane = 0; lane < count; ++lane)
                        for (int k = 0; k <= 2 * window; ++k)
                            if (first + lane + k - window < begin || first + lane + k - window >= end)
                                z[k][lane] = -std::numeric_limits<T>::infinity();
                entmax_lanes<T>(z, entries, r.twice(), r.alpha[head] - 1, weight, slope);
                for (int k = 0; k < entries; ++k) store(kept + k * N, z[k]);
                if (!r.own) z[window] *= T(2);
                for (int lane = 0; lane < count; ++lane) {
                    T factors[MOST_ENTRIES];
                    const T *from[MOST_ENTRIES];
                    for (int k = 0; k < entries; ++k) factors[k] = z[k][lane], from[k] = keys[k * N + lane] + inner;
                    combine(r, context + (first + lane) * inner + offset, factors, from, offset, entries);
                }
            }
        }
    }
}

// Adds to `by_alpha` (heads) and overwrites all other gradients. `scores` is a buffer for the score gradients of the
// longest text.
template <class T, class R>
void ring_backward_on(const R &r, int64_t first_text, int64_t last_text, const T *gradient, const T *weights, T *by_qkv,
                      T *by_own, T *by_relay, T *by_alpha, T *scores) {
    const int64_t inner = r.inner(), heads = r.heads;
    const int entries = r.entries(), window = r.window(), relay_entry = r.relay_entry();
    for (int64_t text = first_text; text < last_text; ++text) {
        const int64_t begin = r.starts[text], end = r.starts[text + 1];
        const T *kept = weights + r.blocks[text] * heads * entries * N;
        // From the gradient of the context to that of the scores.
        for (int64_t first = begin, done = 0; first < end; first += N) {
            const T *keys[MOST_ENTRIES * N], *incoming[N];
            block_keys(r, text, begin, end, first, keys);
            prefetch_block(r, end, first + N);
            const int count = int(end - first < N ? end - first : N);
            for (int64_t head = 0; head < heads; ++head, done += entries * N) {
                const int64_t offset = head * r.size;
                for (int lane = 0; lane < N; ++lane)
                    incoming[lane] = gradient + (first + (lane < count ? lane : count - 1)) * inner + offset;
                Vec<T> p[MOST_ENTRIES], g[MOST_ENTRIES], slope[MOST_ENTRIES], log[MOST_ENTRIES], a[MOST_ENTRIES],
                    b[MOST_ENTRIES];
                entry_products(r, incoming, keys, inner + offset, g);
                for (int k = 0; k < entries; ++k) p[k] = load(kept + done + k * N);
                const Vec<T> share =
                    entmax_lanes_backward<T>(p, g, entries, r.twice(), r.alpha[head] - 1, slope, log, a, b);
                for (int lane = 0; lane < count; ++lane) by_alpha[head] += share[lane];
                for (int k = 0; k < entries; ++k) store(scores + done + k * N, g[k]);
            }
        }
        // From there to queries, keys and values; each token sums the gradients over the neighbors that attend to it.
        T *relay_key = by_relay + 2 * text * inner, *relay_value = relay_key + inner;
        for (int64_t i = 0; i < 2 * inner; ++i) relay_key[i] = 0;
        for (int64_t token = begin; token < end; ++token) {
            T *to = by_qkv + 3 * token * inner;
            const T *keys[MOST_ENTRIES], *queries[MOST_ENTRIES], *incoming[MOST_ENTRIES];
            int64_t place[MOST_ENTRIES];
            bool there[MOST_ENTRIES];
            for (int k = 0; k < entries; ++k) keys[k] = r.keys(text, begin, end, token, k);
            auto place_of = [&](int64_t of, int k) {
                return ((of - begin) / N * heads * entries + k) * N + (of - begin) % N;
            };
            for (int k = 0; k <= 2 * window; ++k) {
                // This token is neighbor number k of `from`.
                int64_t from = token - (k - window);
                there[k] = from >= begin && from < end;
                from = there[k] ? from : token;
                queries[k] = r.row(from), incoming[k] = gradient + from * inner, place[k] = place_of(from, k);
            }
            const int64_t here = place_of(token, 0);
            for (int64_t head = 0; head < heads; ++head) {
                const int64_t offset = head * r.size, skip = head * entries * N;
                T by_score[MOST_ENTRIES], by_key[MOST_ENTRIES], weight[MOST_ENTRIES];
                for (int k = 0; k < entries; ++k) by_score[k] = scores[here + skip + k * N];
                for (int k = 0; k <= 2 * window; ++k) {
                    by_key[k] = there[k] ? scores[place[k] + skip] : T(0);
                    weight[k] = there[k] ? kept[place[k] + skip] : T(0);
                }
                const T relay_score = by_score[relay_entry], relay_weight = kept[here + skip + relay_entry * N];
                if (!r.own) by_score[window] *= 2, by_key[window] *= 2, weight[window] *= 2;
                combine(r, to + offset, by_score, keys, offset, entries);
                combine(r, to + inner + offset, by_key, queries, offset, 2 * window + 1);
                combine(r, to + 2 * inner + offset, weight, incoming, offset, 2 * window + 1);
                const T *query = r.row(token), *context = gradient + token * inner;
                if (r.own) {
                    T *mine = by_own + 2 * token * inner + offset;
                    const T own_weight = kept[here + skip + (entries - 1) * N];
                    combine(r, mine, &by_score[entries - 1], &query, offset, 1);
                    combine(r, mine + inner, &own_weight, &context, offset, 1);
                }
                for (int64_t i = offset; i < offset + r.size; ++i) relay_key[i] += relay_score * query[i];
                for (int64_t i = offset; i < offset + r.size; ++i) relay_value[i] += relay_weight * context[i];
            }
        }
    }
}

// Calls `go` with the ring type that is compiled for its sizes.
template <class T, class Go>
INLINE void with_sizes(const T *qkv, const int64_t *rows, const T *own, const int64_t *own_rows, const T *relay,
                       const int64_t *starts, const int64_t *blocks, const T *alpha, int64_t texts, int64_t heads,
                       int64_t size, int64_t window, Go go) {
    if (!own && window == 1 && size > 3 * N && size <= 4 * N)
        go(Ring<T, 4, 1>{qkv, rows, nullptr, nullptr, relay, starts, blocks, alpha, texts, heads, size, window});
    else
        go(Ring<T, 0, -1>{qkv, rows, own, own_rows, relay, starts, blocks, alpha, texts, heads, size, window});
}
