// Scores of the posts of a corpus; scoring.py in the parent folder describes the functions.

// Bytes by which rows are fetched ahead: processors do not fetch them early enough by themselves.
constexpr int64_t FETCHED_AHEAD = 4096;

inline int32_t product(const int8_t *row, const int16_t *vector, int64_t dim) {
    int32_t sum = 0;
    for (int64_t i = 0; i < dim; ++i) sum += int16_t(row[i]) * vector[i];
    return sum;
}

// Four rows at a time, each with a part of the vector while that is in a register.
void row_products(const int8_t *rows, const int16_t *vector, const float *factors, int64_t count, int64_t dim,
                  float *products) {
    int64_t row = 0;
    for (; row + 4 <= count; row += 4) {
        const int8_t *const a = rows + row * dim, *const b = a + dim, *const c = b + dim, *const d = c + dim;
        for (int64_t byte = 0; byte < 4 * dim; byte += 64) __builtin_prefetch(a + byte + FETCHED_AHEAD);
        int32_t of_a = 0, of_b = 0, of_c = 0, of_d = 0;
        for (int64_t i = 0; i < dim; ++i) {
            const int16_t number = vector[i];
            of_a += int16_t(a[i]) * number;
            of_b += int16_t(b[i]) * number;
            of_c += int16_t(c[i]) * number;
            of_d += int16_t(d[i]) * number;
        }
        products[row] = float(of_a) * factors[row];
        products[row + 1] = float(of_b) * factors[row + 1];
        products[row + 2] = float(of_c) * factors[row + 2];
        products[row + 3] = float(of_d) * factors[row + 3];
    }
    for (; row < count; ++row) products[row] = float(product(rows + row * dim, vector, dim)) * factors[row];
}

struct EveryRow {
    bool operator()(int64_t) const { return true; }
};

// Some rows of a segment, a bit each.
struct SomeRows {
    std::vector<uint64_t> bits;

    SomeRows(const int64_t *rows, int64_t count, int64_t first, int64_t all) : bits((all + 63) / 64) {
        for (int64_t i = 0; i < count; ++i) bits[(rows[i] - first) / 64] |= uint64_t(1) << ((rows[i] - first) % 64);
    }
    bool operator()(int64_t row) const { return bits[row / 64] >> (row % 64) & 1; }
};

// Ranges of postings are far apart: those of later words are fetched meanwhile.
template <class Place> void fetch(const Place *places, const Range *ranges, int64_t word, int64_t words) {
    if (word + 4 < words) __builtin_prefetch(places + ranges[word + 4].start);
}

// Additions only, in the order of the postings, so that sums have the same bits as those of numpy.bincount.
// The two sums of a post are neighbors.
template <class Place, class Wanted>
void add_postings(const Place *places, const Range *ranges, int64_t words, const double *first, const double *second,
                  const Wanted &wanted, double *sums) {
    for (int64_t word = 0; word < words; ++word) {
        const double one = first[word], other = second[word];
        fetch(places, ranges, word, words);
        for (int64_t i = ranges[word].start; i < ranges[word].end; ++i) {
            const int64_t row = places[i];
            if (!wanted(row)) continue;
            sums[2 * row] += one;
            sums[2 * row + 1] += other;
        }
    }
}

// Rows are far apart: the next ones are fetched meanwhile.
inline void fetch_row(const int8_t *const *rows, int64_t i, int64_t count, int64_t dim) {
    if (i + 8 < count)
        for (int64_t byte = 0; byte < dim; byte += 64) __builtin_prefetch(rows[i + 8] + byte);
}

void gather_rows(const int8_t *const *rows, int64_t count, int64_t dim, int8_t *gathered) {
    for (int64_t i = 0; i < count; ++i) {
        fetch_row(rows, i, count, dim);
        std::memcpy(gathered + i * dim, rows[i], dim);
    }
}

inline int64_t occurrences(const PostingsOfSegment &segment, int64_t i) {
    return segment.wide_counts ? static_cast<const uint32_t *>(segment.counts)[i]
                               : static_cast<const uint16_t *>(segment.counts)[i];
}

// Not inlined, so that products are rounded before they are added.
__attribute__((noinline)) void repeated_products(const PostingsOfSegment &segment, int64_t start, int64_t end,
                                                 const double *table, double factor, double *products) {
    for (int64_t i = start; i < end; ++i) products[i - start] = factor * table[occurrences(segment, i)];
}

// Adds up what words add to a post because they are repeated, as numpy.bincount does, and then adds that to its sum.
// `repeated` is zero, before and after.
template <class Place, class Wanted>
void add_repeated(const Place *places, const PostingsOfSegment &segment, const Range *repeats, int64_t words,
                  const double *numbers, const double *table, const Wanted &wanted, double *products, double *repeated,
                  double *sums) {
    for (int64_t word = 0; word < words; ++word) {
        const auto [start, stop] = repeats[word];
        repeated_products(segment, start, stop, table, numbers[word], products);
        for (int64_t i = start; i < stop; ++i) {
            const int64_t row = places[segment.repeated[i]];
            if (wanted(row)) repeated[row] += products[i - start];
        }
    }
    for (int64_t word = 0; word < words; ++word)
        for (int64_t i = repeats[word].start; i < repeats[word].end; ++i) {
            const int64_t row = places[segment.repeated[i]];
            if (!wanted(row)) continue;
            sums[2 * row] += repeated[row];
            repeated[row] = 0;
        }
}

struct Sums {
    // Both sums of each row, what repeated words add to one of them, and the products of one word, which no more posts
    // than there are repeat. All but the products are zero between segments.
    std::vector<double> of_rows, repeated, products;

    void reserve(int64_t rows) {
        if (int64_t(products.size()) >= rows) return;
        of_rows.resize(2 * rows);
        repeated.resize(rows);
        products.resize(rows);
    }
    // The product of a row divided by its length, which is at least the root of `least`; its sums become zero.
    float taken(int64_t row, double square, double least) {
        double &product = of_rows[2 * row], &added = of_rows[2 * row + 1];
        const float cosine = product == 0 ? 0.0f : float(product / std::sqrt(std::max(square + added, least)));
        product = added = 0;
        return cosine;
    }
};

// The sums of the wanted rows.
template <class Place, class Wanted>
void add_words(const PostingsOfSegment &segment, const Range *ranges, const Range *repeats, int64_t words,
               const double *const numbers[2], const double *const tables[2], const Wanted &wanted, Sums &sums) {
    const auto *places = static_cast<const Place *>(segment.places);
    add_postings(places, ranges, words, numbers[0], numbers[1], wanted, sums.of_rows.data());
    for (int which = 0; which < 2; ++which)
        add_repeated(places, segment, repeats, words, numbers[which], tables[which], wanted, sums.products.data(),
                     sums.repeated.data(), sums.of_rows.data() + which);
}

// Adds the entries of a table.
void add_entries(const float *table, const uint16_t *numbers, int64_t count, float *sums) {
    for (int64_t i = 0; i < count; ++i) sums[i] += table[numbers[i]];
}

void tfidf(const PostingsOfSegment *segments, int64_t count, const Range *ranges, const Range *repeats, int64_t words,
           const double *first, const double *second, const double *first_table, const double *second_table,
           const double *squares, float least, float *scores) {
    const double *const numbers[] = {first, second}, *const tables[] = {first_table, second_table};
    Sums sums;
    for (int64_t i = 0; i < count; ++i) {
        const int64_t rows = segments[i].rows;
        sums.reserve(rows);
        const auto add = segments[i].wide_places ? add_words<uint32_t, EveryRow> : add_words<uint16_t, EveryRow>;
        add(segments[i], ranges + i * words, repeats + i * words, words, numbers, tables, EveryRow(), sums);
        for (int64_t row = 0; row < rows; ++row) scores[row] = sums.taken(row, squares[row], least);
        squares += rows;
        scores += rows;
    }
}

// What `add_words` does for a few rows, which ascend: each is looked for among the postings of each word.
template <class Place>
void add_few(const PostingsOfSegment &segment, const Range *ranges, const Range *repeats, int64_t words,
             const double *const numbers[2], const double *const tables[2], const int64_t *wanted, int64_t count,
             int64_t first, Sums &sums) {
    const auto *places = static_cast<const Place *>(segment.places);
    std::vector<double> repeated(2 * count);
    for (int64_t word = 0; word < words; ++word) {
        const Place *at = places + ranges[word].start, *const end = places + ranges[word].end;
        fetch(places, ranges, word, words);
        for (int64_t i = 0; i < count && at < end; ++i) {
            const int64_t row = wanted[i] - first;
            at = std::lower_bound(at, end, row, [](Place place, int64_t other) { return int64_t(place) < other; });
            if (at == end || int64_t(*at) != row) continue;
            sums.of_rows[2 * row] += numbers[0][word];
            sums.of_rows[2 * row + 1] += numbers[1][word];
            const int64_t *const last = segment.repeated + repeats[word].end;
            const int64_t *const found = std::lower_bound(segment.repeated + repeats[word].start, last, at - places);
            if (found == last || *found != at - places) continue;
            const int64_t place = found - segment.repeated;
            for (int which = 0; which < 2; ++which) {
                double product;
                repeated_products(segment, place, place + 1, tables[which], numbers[which][word], &product);
                repeated[2 * i + which] += product;
            }
        }
    }
    for (int64_t i = 0; i < count; ++i)
        for (int which = 0; which < 2; ++which) sums.of_rows[2 * (wanted[i] - first) + which] += repeated[2 * i + which];
}

// The rows are counted from the first one of the first segment, and ascend.
void tfidf_at(const PostingsOfSegment *segments, int64_t count, const Range *ranges, const Range *repeats,
              int64_t words, const double *first, const double *second, const double *first_table,
              const double *second_table, const double *squares, float least, const int64_t *wanted,
              int64_t wanted_count, float *scores) {
    const double *const numbers[] = {first, second}, *const tables[] = {first_table, second_table};
    Sums sums;
    int64_t begin = 0, first_row = 0;
    for (int64_t i = 0; i < count && begin < wanted_count; ++i) {
        const int64_t rows = segments[i].rows;
        const int64_t end = std::lower_bound(wanted + begin, wanted + wanted_count, first_row + rows) - wanted;
        if (begin < end) {
            sums.reserve(rows);
            const Range *const of_segment = ranges + i * words;
            int64_t postings = 0;
            for (int64_t word = 0; word < words; ++word) postings += of_segment[word].end - of_segment[word].start;
            // Looking for a row among the postings of a word takes as long as going through eight of them.
            if (8 * words * (end - begin) < postings) {
                const auto add = segments[i].wide_places ? add_few<uint32_t> : add_few<uint16_t>;
                add(segments[i], of_segment, repeats + i * words, words, numbers, tables, wanted + begin, end - begin,
                    first_row, sums);
            } else {
                const SomeRows some(wanted + begin, end - begin, first_row, rows);
                const auto add = segments[i].wide_places ? add_words<uint32_t, SomeRows> : add_words<uint16_t, SomeRows>;
                add(segments[i], of_segment, repeats + i * words, words, numbers, tables, some, sums);
            }
            for (int64_t at = begin; at < end; ++at)
                scores[at] = sums.taken(wanted[at] - first_row, squares[wanted[at]], least);
        }
        begin = end;
        first_row += rows;
    }
}

// As std::lower_bound, from a guess.
template <class Number>
const Number *lower_bound_near(const Number *begin, const Number *end, const Number *guess, Number key) {
    if (begin == end) return end;
    int64_t step = 16;
    if (guess < end && *guess < key) {
        for (begin = guess; guess + step < end && guess[step] < key; step *= 2) begin = guess + step;
        return std::lower_bound(begin, std::min(end, guess + step + 1), key);
    }
    for (end = guess; guess - step >= begin && guess[-step] >= key; step *= 2) end = guess - step;
    return std::lower_bound(std::max(begin, guess - step), end, key);
}

// Hashes are spread evenly.
inline const uint64_t *guess_of(const PostingsOfSegment &segment, uint64_t key) {
    return segment.words + ((key >> 32) * uint64_t(segment.distinct) >> 32);
}

// The first number from `at` on that is not less, which is probably near.
inline const int64_t *lower_bound_from(const int64_t *at, const int64_t *last, int64_t number) {
    int64_t step = 1;
    for (; last - at > step && at[step] < number; step *= 2) at += step;
    return std::lower_bound(at, std::min(at + step + 1, last), number);
}

// An unknown word has empty ranges.
void find_words(const PostingsOfSegment *segments, int64_t count, const uint64_t *keys, int64_t words, Range *ranges,
                Range *repeats) {
    // In ascending order, so that each search begins where the one before ended.
    std::vector<int64_t> order(words);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [keys](int64_t one, int64_t other) { return keys[one] < keys[other]; });
    for (int64_t i = 0; i < count; ++i) {
        const PostingsOfSegment &segment = segments[i];
        const uint64_t *last = segment.words + segment.distinct;
        const int64_t *const last_repeated = segment.repeated + segment.repeats, *repeated = segment.repeated;
        for (int64_t n = 0; n < words; ++n) {
            const int64_t word = order[n];
            if (n + 4 < words) __builtin_prefetch(guess_of(segment, keys[order[n + 4]]));
            const uint64_t *found = lower_bound_near(segment.words, last, guess_of(segment, keys[word]), keys[word]);
            Range &range = ranges[i * words + word], &of_repeated = repeats[i * words + word];
            range = of_repeated = {0, 0};
            if (found == last || *found != keys[word]) continue;
            const int64_t at = found - segment.words;
            range = {at ? segment.ends[at - 1] : 0, segment.ends[at]};
            repeated = lower_bound_from(repeated, last_repeated, range.start);
            of_repeated.start = repeated - segment.repeated;
            repeated = lower_bound_from(repeated, last_repeated, range.end);
            of_repeated.end = repeated - segment.repeated;
        }
    }
}
