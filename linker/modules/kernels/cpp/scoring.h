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

// Ranges of postings are far apart: those of later words are fetched meanwhile.
template <class Place> void fetch(const Place *places, const Range *ranges, int64_t word, int64_t words) {
    if (word + 4 < words) __builtin_prefetch(places + ranges[word + 4].start);
}

// Additions only, in the order of the postings, so that sums have the same bits as those of numpy.bincount.
// The two sums of a post are neighbors.
template <class Place>
void add_postings(const Place *places, const Range *ranges, int64_t words, const double *first, const double *second,
                  double *sums) {
    for (int64_t word = 0; word < words; ++word) {
        const double one = first[word], other = second[word];
        fetch(places, ranges, word, words);
        for (int64_t i = ranges[word].start; i < ranges[word].end; ++i) {
            const int64_t row = places[i];
            sums[2 * row] += one;
            sums[2 * row + 1] += other;
        }
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
template <class Place>
void add_repeated(const Place *places, const PostingsOfSegment &segment, const Range *repeats, int64_t words,
                  const double *numbers, const double *table, double *products, double *repeated,
                  double *sums) {
    for (int64_t word = 0; word < words; ++word) {
        const auto [start, stop] = repeats[word];
        repeated_products(segment, start, stop, table, numbers[word], products);
        for (int64_t i = start; i < stop; ++i) {
            const int64_t row = places[segment.repeated[i]];
            repeated[row] += products[i - start];
        }
    }
    for (int64_t word = 0; word < words; ++word)
        for (int64_t i = repeats[word].start; i < repeats[word].end; ++i) {
            const int64_t row = places[segment.repeated[i]];
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

// The sums of all rows.
template <class Place>
void add_words(const PostingsOfSegment &segment, const Range *ranges, const Range *repeats, int64_t words,
               const double *const numbers[2], const double *const tables[2], Sums &sums) {
    const auto *places = static_cast<const Place *>(segment.places);
    add_postings(places, ranges, words, numbers[0], numbers[1], sums.of_rows.data());
    for (int which = 0; which < 2; ++which)
        add_repeated(places, segment, repeats, words, numbers[which], tables[which], sums.products.data(),
                     sums.repeated.data(), sums.of_rows.data() + which);
}

void tfidf(const PostingsOfSegment *segments, int64_t count, const Range *ranges, const Range *repeats, int64_t words,
           const double *first, const double *second, const double *first_table, const double *second_table,
           const double *squares, float least, float *scores) {
    const double *const numbers[] = {first, second}, *const tables[] = {first_table, second_table};
    Sums sums;
    for (int64_t i = 0; i < count; ++i) {
        const int64_t rows = segments[i].rows;
        sums.reserve(rows);
        const auto add = segments[i].wide_places ? add_words<uint32_t> : add_words<uint16_t>;
        add(segments[i], ranges + i * words, repeats + i * words, words, numbers, tables, sums);
        for (int64_t row = 0; row < rows; ++row) scores[row] = sums.taken(row, squares[row], least);
        squares += rows;
        scores += rows;
    }
}
