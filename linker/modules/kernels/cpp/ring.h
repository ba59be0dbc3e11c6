// Ring attention: every token attends to its neighbours, its own token vector and its text's relay.

template <class T> struct Ring {
    const T *qkv;              // n × 3I
    const int64_t *rows;       // tokens, or null
    const T *own;              // m × 2I, or null: the satellites' own keys and values
    const int64_t *own_rows;   // tokens, or null
    const T *relay;            // texts × 2I
    const int64_t *starts;     // texts + 1
    const T *alpha;            // heads
    int64_t texts, heads, size, window;

    int64_t inner() const { return heads * size; }
    int64_t entries() const { return 2 * window + 3; }
    const T *row(int64_t token) const { return qkv + 3 * inner() * (rows ? rows[token] : token); }
    const T *own_key(int64_t token) const {
        return own ? own + 2 * inner() * (own_rows ? own_rows[token] : token) : row(token) + inner();
    }
    const T *own_value(int64_t token) const { return own_key(token) + inner(); }
};

// One head's part of a vector, in pieces of eight. The last piece overlaps the one before where the size is no
// multiple of eight; for products its overlap is masked away.
template <class T> struct Pieces {
    int count, last, width;
    Vec<T> mask;
    explicit Pieces(int64_t size) {
        count = int((size + N - 1) / N);
        width = int(size < N ? size : N);
        last = int(size < N ? 0 : size - N);
        mask = splat(T(1));
        for (int i = 0; i < N * count - int(size) && size >= N; ++i) mask[i] = 0;
    }
    INLINE int at(int piece) const { return piece + 1 == count ? last : piece * N; }
};

template <class T> INLINE Vec<T> products(const Vec<T> *query, const T *key, const Pieces<T> &pieces) {
    Vec<T> found = query[0] * load_some(key + pieces.at(0), pieces.width);
    for (int piece = 1; piece < pieces.count; ++piece) found += query[piece] * load(key + pieces.at(piece));
    return found;
}
constexpr int MOST_PIECES = 64;
template <class T> INLINE void take(Vec<T> *query, const T *from, const Pieces<T> &pieces) {
    for (int piece = 0; piece < pieces.count; ++piece) query[piece] = load_some(from + pieces.at(piece), pieces.width);
    query[pieces.count - 1] *= pieces.mask;
}

// Tokens of one text, from `first` on, eight at a time; lanes beyond the end repeat the last token.
struct Block {
    int64_t begin, end, first;
    INLINE int64_t token(int lane) const { return first + lane < end ? first + lane : end - 1; }
    INLINE int count() const { return int(end - first < N ? end - first : N); }
};

// Dot products of each token's vector from `query` with what each entry names, lane = token.
template <class T, class Query, class Entry>
INLINE void score_entries(const Ring<T> &r, const Block &block, const Pieces<T> &pieces, Query query, Entry entry,
                          Vec<T> *out) {
    const int64_t window = r.window, entries = r.entries();
    Vec<T> held[MOST_PIECES], partial[64][N];
    for (int lane = 0; lane < N; ++lane) {
        int64_t token = block.token(lane);
        take<T>(held, query(token), pieces);
        for (int64_t k = 0; k < entries; ++k) {
            int64_t there = token + k - window;
            bool exists = k > 2 * window || (there >= block.begin && there < block.end);
            if (k == 2 * window + 1 && !r.own)
                partial[k][lane] = partial[window][lane];
            else
                partial[k][lane] = exists ? products<T>(held, entry(k, token), pieces) : splat(T(0));
        }
    }
    for (int64_t k = 0; k < entries; ++k) out[k] = sums<T>(partial[k]);
}

// What neighbours, own token and relay of `token` have in column 0 (keys) or 1 (values), for the head at `offset`.
template <class T>
INLINE const T *context_of(const Ring<T> &r, int64_t text, int64_t k, int64_t token, int column, int64_t offset) {
    int64_t inner = r.inner();
    if (k <= 2 * r.window) return r.row(token + k - r.window) + (1 + column) * inner + offset;
    if (k == 2 * r.window + 1) return r.own_key(token) + column * inner + offset;
    return r.relay + (2 * text + column) * inner + offset;
}

template <class T> void ring_forward(const Ring<T> &r, int64_t first_text, int64_t last_text, T *context, T *weights) {
    const int64_t inner = r.inner(), entries = r.entries();
    const Pieces<T> pieces(r.size);
    for (int64_t text = first_text; text < last_text; ++text) {
        for (Block block{r.starts[text], r.starts[text + 1], r.starts[text]}; block.first < block.end;
             block.first += N) {
            for (int64_t head = 0; head < r.heads; ++head) {
                const int64_t offset = head * r.size;
                Vec<T> z[64];
                score_entries<T>(
                    r, block, pieces, [&](int64_t token) { return r.row(token) + offset; },
                    [&](int64_t k, int64_t token) { return context_of(r, text, k, token, 0, offset); }, z);
                for (int lane = 0; lane < N; ++lane)
                    for (int64_t k = 0; k <= 2 * r.window; ++k) {
                        int64_t there = block.token(lane) + k - r.window;
                        if (there < block.begin || there >= block.end) z[k][lane] = -std::numeric_limits<T>::infinity();
                    }
                entmax_lanes<T>(z, int(entries), r.alpha[head] - 1);
                for (int lane = 0; lane < block.count(); ++lane) {
                    int64_t token = block.first + lane;
                    T *out = context + token * inner + offset;
                    Vec<T> held[MOST_PIECES] = {};
                    for (int64_t k = 0; k < entries; ++k) {
                        T weight = z[k][lane];
                        if (weights) weights[(token * r.heads + head) * entries + k] = weight;
                        if (weight == 0) continue;
                        const T *value = context_of(r, text, k, token, 1, offset);
                        for (int piece = 0; piece < pieces.count; ++piece)
                            held[piece] += weight * load_some(value + pieces.at(piece), pieces.width);
                    }
                    for (int piece = 0; piece < pieces.count; ++piece)
                        store_some(out + pieces.at(piece), held[piece], pieces.width);
                }
            }
        }
    }
}

// Row `to` becomes Σ factor · from over `count` (factor, from) pairs, for the heads' part of `size` numbers.
template <class T> struct Term {
    T factor;
    const T *from;
};
template <class T> INLINE void combine(T *to, const Term<T> *terms, int count, const Pieces<T> &pieces) {
    for (int piece = 0; piece < pieces.count; ++piece) {
        Vec<T> held = splat(T(0));
        for (int i = 0; i < count; ++i)
            held += terms[i].factor * load_some(terms[i].from + pieces.at(piece), pieces.width);
        store_some(to + pieces.at(piece), held, pieces.width);
    }
}

// `by_alpha` (heads) is added to; all other gradients are written. `scratch` has room for the scores' gradients of
// the longest text, tokens × heads × entries.
template <class T>
void ring_backward(const Ring<T> &r, int64_t first_text, int64_t last_text, const T *gradient, const T *weights,
                   T *by_qkv, T *by_own, T *by_relay, T *by_alpha, T *scratch) {
    const int64_t inner = r.inner(), entries = r.entries(), heads = r.heads, window = r.window;
    const Pieces<T> pieces(r.size);
    for (int64_t text = first_text; text < last_text; ++text) {
        const int64_t begin = r.starts[text], end = r.starts[text + 1];
        // From the gradient of the context to that of the scores.
        for (Block block{begin, end, begin}; block.first < block.end; block.first += N) {
            for (int64_t head = 0; head < heads; ++head) {
                const int64_t offset = head * r.size;
                Vec<T> p[64], g[64];
                score_entries<T>(
                    r, block, pieces, [&](int64_t token) { return gradient + token * inner + offset; },
                    [&](int64_t k, int64_t token) { return context_of(r, text, k, token, 1, offset); }, g);
                for (int64_t k = 0; k < entries; ++k)
                    for (int lane = 0; lane < N; ++lane)
                        p[k][lane] = lane < block.count()
                                         ? weights[((block.first + lane) * heads + head) * entries + k]
                                         : T(0);
                Vec<T> share = entmax_lanes_backward<T>(p, g, int(entries), r.alpha[head] - 1);
                for (int lane = 0; lane < block.count(); ++lane) {
                    by_alpha[head] += share[lane];
                    for (int64_t k = 0; k < entries; ++k)
                        scratch[((block.first + lane - begin) * heads + head) * entries + k] = g[k][lane];
                }
            }
        }
        // From there to queries, keys and values, each token collecting what it gave to its neighbours.
        T *relay_key = by_relay + 2 * text * inner, *relay_value = relay_key + inner;
        for (int64_t i = 0; i < 2 * inner; ++i) relay_key[i] = 0;
        for (int64_t token = begin; token < end; ++token) {
            T *query = by_qkv + 3 * token * inner;
            for (int64_t head = 0; head < heads; ++head) {
                const int64_t offset = head * r.size;
                auto score = [&](int64_t of, int64_t k) { return scratch[((of - begin) * heads + head) * entries + k]; };
                auto weight = [&](int64_t of, int64_t k) { return weights[(of * heads + head) * entries + k]; };
                Term<T> q[64], k_[64], v[64];
                int count = 0;
                for (int64_t k = 0; k < entries; ++k)
                    if (score(token, k) != 0) q[count++] = {score(token, k), context_of(r, text, k, token, 0, offset)};
                combine<T>(query + offset, q, count, pieces);
                int keys = 0, values = 0;
                for (int64_t k = 0; k <= 2 * window; ++k) {
                    // `from` has this token as its neighbour number k.
                    int64_t from = token - (k - window);
                    if (from < begin || from >= end) continue;
                    T ds = score(from, k), p = weight(from, k);
                    if (k == window && !r.own) ds += score(token, 2 * window + 1), p += weight(token, 2 * window + 1);
                    if (ds != 0) k_[keys++] = {ds, r.row(from) + offset};
                    if (p != 0) v[values++] = {p, gradient + from * inner + offset};
                }
                combine<T>(query + inner + offset, k_, keys, pieces);
                combine<T>(query + 2 * inner + offset, v, values, pieces);
                if (r.own) {
                    T *mine = by_own + 2 * token * inner + offset;
                    Term<T> one = {score(token, 2 * window + 1), r.row(token) + offset};
                    combine<T>(mine, &one, 1, pieces);
                    one = {weight(token, 2 * window + 1), gradient + token * inner + offset};
                    combine<T>(mine + inner, &one, 1, pieces);
                }
                T ds = score(token, entries - 1), p = weight(token, entries - 1);
                const T *from = r.row(token) + offset, *incoming = gradient + token * inner + offset;
                if (ds != 0)
                    for (int64_t i = 0; i < r.size; ++i) relay_key[offset + i] += ds * from[i];
                if (p != 0)
                    for (int64_t i = 0; i < r.size; ++i) relay_value[offset + i] += p * incoming[i];
            }
        }
    }
}
