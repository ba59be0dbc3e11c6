// Scores of the posts of a corpus; scoring.py in the parent folder describes the functions.

void row_products(const int8_t *rows, const int16_t *vector, const float *factors, int64_t count, int64_t dim,
                  float *products) {
    for (int64_t row = 0; row < count; ++row) {
        const int8_t *numbers = rows + row * dim;
        int32_t sum = 0;
        for (int64_t i = 0; i < dim; ++i) sum += int16_t(numbers[i]) * vector[i];
        products[row] = float(sum) * factors[row];
    }
}

// Additions only, in the order of the postings, so that sums have the same bits as those of numpy.bincount.
// The two sums of a post are neighbors.
template <class Place>
void add_postings(const Place *places, const int64_t *starts, const int64_t *ends, int64_t words, const double *first,
                  const double *second, double *sums) {
    for (int64_t word = 0; word < words; ++word) {
        const double one = first[word], other = second[word];
        for (int64_t i = starts[word]; i < ends[word]; ++i) {
            sums[2 * int64_t(places[i])] += one;
            sums[2 * int64_t(places[i]) + 1] += other;
        }
    }
}

// The products of one gathered row after another.
void row_products_at(const int8_t *rows, const int64_t *places, const int16_t *vector, const float *factors,
                     int64_t count, int64_t dim, float *products) {
    for (int64_t i = 0; i < count; ++i) {
        // Rows are far apart: the next ones are fetched meanwhile.
        if (i + 8 < count)
            for (int64_t byte = 0; byte < dim; byte += 64) __builtin_prefetch(rows + places[i + 8] * dim + byte);
        row_products(rows + places[i] * dim, vector, factors + i, 1, dim, products + i);
    }
}

// Not inlined, so that products are rounded before they are added.
__attribute__((noinline)) void repeated_products(const void *counts, bool wide, int64_t start, int64_t end,
                                                 const double *table, double factor, double *products) {
    for (int64_t i = start; i < end; ++i) {
        const int64_t count = wide ? static_cast<const uint32_t *>(counts)[i] : static_cast<const uint16_t *>(counts)[i];
        products[i - start] = factor * table[count];
    }
}

// Adds up what words add to a post because they are repeated, as numpy.bincount does, and then adds that to its sum.
// `repeated` is zero, before and after.
template <class Place>
void add_repeated(const Place *places, const PostingsOfSegment &segment, const int64_t *starts, const int64_t *ends,
                  int64_t words, const double *numbers, const double *table, double *products, double *repeated,
                  double *sums) {
    std::vector<std::pair<int64_t, int64_t>> ranges(words);
    for (int64_t word = 0; word < words; ++word) {
        const int64_t *begin = segment.repeated, *end = begin + segment.repeats;
        const int64_t start = std::lower_bound(begin, end, starts[word]) - begin;
        const int64_t stop = std::lower_bound(begin + start, end, ends[word]) - begin;
        repeated_products(segment.counts, segment.wide_counts, start, stop, table, numbers[word], products);
        for (int64_t i = start; i < stop; ++i) repeated[places[segment.repeated[i]]] += products[i - start];
        ranges[word] = {start, stop};
    }
    for (const auto &[start, stop] : ranges)
        for (int64_t i = start; i < stop; ++i) {
            const int64_t row = places[segment.repeated[i]];
            sums[2 * row] += repeated[row];
            repeated[row] = 0;
        }
}

template <class Place>
void tfidf_of_segment(const PostingsOfSegment &segment, const int64_t *starts, const int64_t *ends, int64_t words,
                      const double *const numbers[2], const double *const tables[2], const double *squares,
                      double *scratch, float *scores) {
    const auto *places = static_cast<const Place *>(segment.places);
    const int64_t rows = segment.rows;
    double *sums = scratch, *repeated = scratch + 2 * rows;
    std::fill(scratch, scratch + 3 * rows, 0.0);
    add_postings(places, starts, ends, words, numbers[0], numbers[1], sums);
    for (int which = 0; which < 2; ++which)
        add_repeated(places, segment, starts, ends, words, numbers[which], tables[which], repeated + rows, repeated,
                     sums + which);
    for (int64_t row = 0; row < rows; ++row)
        scores[row] =
            sums[2 * row] == 0 ? 0.0f : float(sums[2 * row] / std::sqrt(squares[row] + sums[2 * row + 1]));
}

// Adds the entries of a table.
void add_entries(const float *table, const uint16_t *numbers, int64_t count, float *sums) {
    for (int64_t i = 0; i < count; ++i) sums[i] += table[numbers[i]];
}

void tfidf(const PostingsOfSegment *segments, int64_t count, const int64_t *starts, const int64_t *ends, int64_t words,
           const double *first, const double *second, const double *first_table, const double *second_table,
           const double *squares, float *scores) {
    const double *const numbers[] = {first, second}, *const tables[] = {first_table, second_table};
    std::vector<double> scratch;
    for (int64_t i = 0; i < count; ++i) {
        const PostingsOfSegment &segment = segments[i];
        // Sums, those of repeated words, and the products of one word, which no more posts than there are repeat.
        scratch.resize(4 * segment.rows);
        const auto of_segment = segment.wide_places ? tfidf_of_segment<uint32_t> : tfidf_of_segment<uint16_t>;
        of_segment(segment, starts + i * words, ends + i * words, words, numbers, tables, squares, scratch.data(),
                   scores);
        squares += segment.rows;
        scores += segment.rows;
    }
}

// An unknown word has an empty range.
void find_words(const PostingsOfSegment *segments, int64_t count, const uint64_t *keys, int64_t words, int64_t *starts,
                int64_t *ends) {
    for (int64_t i = 0; i < count; ++i) {
        const PostingsOfSegment &segment = segments[i];
        const uint64_t *last = segment.words + segment.distinct;
        for (int64_t word = 0; word < words; ++word) {
            const uint64_t *found = std::lower_bound(segment.words, last, keys[word]);
            const int64_t at = found - segment.words;
            const bool known = found != last && *found == keys[word];
            starts[i * words + word] = known && at ? segment.ends[at - 1] : 0;
            ends[i * words + word] = known ? segment.ends[at] : 0;
        }
    }
}
