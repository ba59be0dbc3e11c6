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
template <class Place>
void add_postings(const Place *places, const int64_t *starts, const int64_t *ends, int64_t words, const double *first,
                  const double *second, double *first_sums, double *second_sums) {
    for (int64_t word = 0; word < words; ++word) {
        const double one = first[word], other = second[word];
        for (int64_t i = starts[word]; i < ends[word]; ++i) {
            first_sums[places[i]] += one;
            second_sums[places[i]] += other;
        }
    }
}

// Rounded as NumPy does step by step: a square root, a quotient, and float.
void cosines(const double *products, const double *squares, const double *added, int64_t rows, float *scores) {
    for (int64_t row = 0; row < rows; ++row)
        scores[row] = products[row] == 0 ? 0.0f : float(products[row] / std::sqrt(squares[row] + added[row]));
}
