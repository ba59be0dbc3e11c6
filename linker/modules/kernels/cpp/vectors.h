// Eight numbers at a time with the compilers' vector extensions, and exp and log on them.
// Included once per instruction set, inside that set's namespace.

template <class T> struct Lanes;
template <> struct Lanes<float> {
    typedef float vec __attribute__((vector_size(32)));
    typedef int32_t ints __attribute__((vector_size(32)));
};
template <> struct Lanes<double> {
    typedef double vec __attribute__((vector_size(64)));
    typedef int64_t ints __attribute__((vector_size(64)));
};
template <class T> using Vec = typename Lanes<T>::vec;
template <class T> using Ints = typename Lanes<T>::ints;
typedef uint32_t Words __attribute__((vector_size(32)));
constexpr int N = 8;

template <class T> INLINE Vec<T> load(const T *p) {
    Vec<T> v;
    memcpy(&v, p, sizeof v);
    return v;
}
template <class T> INLINE void store(T *p, Vec<T> v) { memcpy(p, &v, sizeof v); }
template <class T> INLINE Vec<T> splat(T x) { return Vec<T>{x, x, x, x, x, x, x, x}; }
// The first `count` numbers, followed by zeros.
template <class T> INLINE Vec<T> load_some(const T *p, int count) {
    if (count >= N) return load(p);
    T all[N] = {};
    for (int i = 0; i < count; ++i) all[i] = p[i];
    return load(all);
}
template <class T> INLINE void store_some(T *p, Vec<T> v, int count) {
    if (count >= N) return store(p, v);
    for (int i = 0; i < count; ++i) p[i] = v[i];
}
template <class T> INLINE Vec<T> maximum(Vec<T> a, Vec<T> b) { return a > b ? a : b; }

template <class T> INLINE T sum(Vec<T> v) {
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

// Lane i of the result is the sum of the lanes of a[i].
template <class T> INLINE Vec<T> sums(const Vec<T> *a) {
    Vec<T> b[4], c[2];
    for (int i = 0; i < 4; ++i)
        b[i] = SHUFFLE(a[2 * i], a[2 * i + 1], 0, 8, 2, 10, 4, 12, 6, 14) +
               SHUFFLE(a[2 * i], a[2 * i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    for (int i = 0; i < 2; ++i)
        c[i] = SHUFFLE(b[2 * i], b[2 * i + 1], 0, 1, 8, 9, 4, 5, 12, 13) +
               SHUFFLE(b[2 * i], b[2 * i + 1], 2, 3, 10, 11, 6, 7, 14, 15);
    return SHUFFLE(c[0], c[1], 0, 1, 2, 3, 8, 9, 10, 11) + SHUFFLE(c[0], c[1], 4, 5, 6, 7, 12, 13, 14, 15);
}

// e^r - 1 for |r| ≤ ln 2 / 2: the minimax polynomial of the Cephes library.
INLINE Vec<float> expm1_core(Vec<float> r) {
    Vec<float> p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    return p * r * r + r;
}
// e^x = 2^n (1 + grown).
INLINE Vec<float> exponent_parts(Vec<float> x, Vec<float> &grown) {
    x = x < -87.0f ? splat(-87.0f) : x;
    x = x > 88.0f ? splat(88.0f) : x;
    // Adding and subtracting 1.5 · 2^23 rounds to whole numbers.
    Vec<float> n = (x * 1.44269504088896341f + 12582912.0f) - 12582912.0f;
    grown = expm1_core((x - n * 0.693359375f) + n * 2.12194440e-4f);
    Ints<float> power = (__builtin_convertvector(n, Ints<float>) + 127) << 23;
    Vec<float> scale;
    memcpy(&scale, &power, sizeof scale);
    return scale;
}
INLINE Vec<float> exponential(Vec<float> x) {
    Vec<float> grown, scale = exponent_parts(x, grown);
    return grown * scale + scale;
}
INLINE Vec<float> exponential_minus_1(Vec<float> x) {
    Vec<float> grown, scale = exponent_parts(x, grown);
    return grown * scale + (scale - 1.0f);
}
// For normal numbers above 0.
INLINE Vec<float> logarithm(Vec<float> x) {
    Ints<float> bits;
    memcpy(&bits, &x, sizeof bits);
    // Mantissa in [√½, √2).
    Ints<float> shifted = bits - 0x3f3504f3;
    Vec<float> e = __builtin_convertvector(shifted >> 23, Vec<float>);
    Ints<float> mantissa = bits - (shifted & (int32_t)0xff800000);
    Vec<float> m;
    memcpy(&m, &mantissa, sizeof m);
    m = m - 1.0f;
    Vec<float> z = m * m;
    Vec<float> p = m * 7.0376836292e-2f - 1.1514610310e-1f;
    p = p * m + 1.1676998740e-1f;
    p = p * m - 1.2420140846e-1f;
    p = p * m + 1.4249322787e-1f;
    p = p * m - 1.6668057665e-1f;
    p = p * m + 2.0000714765e-1f;
    p = p * m - 2.4999993993e-1f;
    p = p * m + 3.3333331174e-1f;
    Vec<float> y = p * m * z - e * 2.12194440e-4f - z * 0.5f;
    return (m + y) + e * 0.693359375f;
}
// log(1 + x) for x > -1, and 1 / (1 + x).
INLINE Vec<float> logarithm_plus_1(Vec<float> x, Vec<float> &inverse) {
    Vec<float> u = x + 1.0f;
    inverse = 1.0f / u;
    return logarithm(u) - ((u - 1.0f) - x) * inverse;
}

INLINE Vec<double> exponential(Vec<double> x) {
    for (int i = 0; i < N; ++i) x[i] = std::exp(x[i]);
    return x;
}
INLINE Vec<double> exponential_minus_1(Vec<double> x) {
    for (int i = 0; i < N; ++i) x[i] = std::expm1(x[i]);
    return x;
}
INLINE Vec<double> logarithm(Vec<double> x) {
    for (int i = 0; i < N; ++i) x[i] = std::log(x[i]);
    return x;
}
INLINE Vec<double> logarithm_plus_1(Vec<double> x, Vec<double> &inverse) {
    inverse = 1.0 / (x + 1.0);
    for (int i = 0; i < N; ++i) x[i] = std::log1p(x[i]);
    return x;
}

// Whether any lane of a comparison is true.
template <class M> INLINE bool any(M mask) {
    int64_t parts[sizeof(M) / 8], all = 0;
    memcpy(parts, &mask, sizeof mask);
    for (size_t i = 0; i < sizeof(M) / 8; ++i) all |= parts[i];
    return all != 0;
}
