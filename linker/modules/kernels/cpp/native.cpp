// Linker's CPU kernels behind a plain C interface: no header of torch or Python is needed, so one binary serves every
// version of both. plain.py and native.py in the parent folder define what the functions compute.

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#if defined(_WIN32)
#define EXPORT extern "C" __declspec(dllexport)
#else
#define EXPORT extern "C" __attribute__((visibility("default")))
#endif
#define INLINE inline __attribute__((always_inline))
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define SHUFFLE __builtin_shufflevector
#endif
#endif
#ifndef SHUFFLE // GCC before 12; T is the element type wherever it is used
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, Ints<T>{__VA_ARGS__})
#endif

namespace {

// Postings of one shard of a corpus: addresses and lengths of the arrays of `Segment` in models/features/postings.py,
// as int64 numbers one after another.
struct PostingsOfSegment {
    const uint64_t *words;
    int64_t distinct;
    const int64_t *ends;
    const void *places;
    int64_t wide_places;
    const int64_t *repeated;
    int64_t repeats;
    const void *counts;
    int64_t wide_counts;
    int64_t rows;
};

// A range of postings, or of the repeated ones.
struct Range {
    int64_t start, end;
};

// The functions of each instruction set, for float and double.
template <class T> struct Calls;

namespace portable {
#include "kernels.h"
}
#if defined(__x86_64__)
#define HAS_AVX2 1
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
namespace avx2 {
#include "kernels.h"
}
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

#ifdef HAS_AVX2
// Not __builtin_cpu_supports, whose runtime not every toolchain links into a shared library.
bool find_avx2() {
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return false;
    const unsigned needed = bit_FMA | bit_OSXSAVE | bit_AVX;
    if ((c & needed) != needed) return false;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0)); // whether the system saves the registers
    return (low & 6) == 6 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX2);
}
bool has_avx2() {
    static const bool found = find_avx2();
    return found;
}
#else
bool has_avx2() { return false; }
#endif

using GompParallel = void (*)(void (*)(void *), void *, unsigned, unsigned);
GompParallel gomp_parallel = nullptr;

// Runs body(item) for all items on up to `threads` threads. Idle threads take the next item in order.
template <class Body> void for_each(int64_t items, int64_t threads, Body body) {
    struct Job {
        std::atomic<int64_t> next{0};
        int64_t items;
        Body *body;
    } job;
    job.items = items;
    job.body = &body;
    auto work = [](void *data) {
        Job *job = static_cast<Job *>(data);
        for (int64_t item; (item = job->next.fetch_add(1)) < job->items;) (*job->body)(item);
    };
    threads = threads < items ? threads : items;
    if (threads <= 1)
        work(&job);
    else if (gomp_parallel)
        gomp_parallel(work, &job, unsigned(threads), 0);
    else {
        std::vector<std::thread> others;
        for (int64_t i = 1; i < threads; ++i) others.emplace_back(work, &job);
        work(&job);
        for (auto &other : others) other.join();
    }
}

// The same partition for any number of threads, so that sums have one order and results are reproducible bit by bit.
constexpr int64_t TOKENS_PER_ITEM = 512;
std::vector<int64_t> split_texts(const int64_t *starts, int64_t texts) {
    std::vector<int64_t> bounds{0};
    for (int64_t text = 0; text < texts; ++text)
        if (text + 1 == texts || starts[text + 1] - starts[bounds.back()] >= TOKENS_PER_ITEM) bounds.push_back(text + 1);
    return bounds;
}
// First block of eight tokens of each text.
std::vector<int64_t> first_blocks(const int64_t *starts, int64_t texts) {
    std::vector<int64_t> found(texts + 1);
    for (int64_t text = 0; text < texts; ++text)
        found[text + 1] = found[text] + (starts[text + 1] - starts[text] + 7) / 8;
    return found;
}
template <class T> void add_up(const std::vector<T> &parts, int64_t width, T *total) {
    for (int64_t i = 0; i < width; ++i) total[i] = 0;
    for (size_t k = 0; k < parts.size(); ++k) total[k % width] += parts[k];
}

#ifdef HAS_AVX2
#define CALL(name, ...) (has_avx2() ? avx2::name(__VA_ARGS__) : portable::name(__VA_ARGS__))
#else
#define CALL(name, ...) portable::name(__VA_ARGS__)
#endif

template <class T>
void ring_forward(const T *qkv, const int64_t *rows, const T *own, const int64_t *own_rows, const T *relay,
                  const int64_t *starts, const T *alpha, int64_t texts, int64_t heads, int64_t size, int64_t window,
                  T *context, T *weights, int64_t threads) {
    const auto bounds = split_texts(starts, texts), blocks = first_blocks(starts, texts);
    for_each(int64_t(bounds.size()) - 1, threads, [&](int64_t item) {
        CALL(ring_forward_of, qkv, rows, own, own_rows, relay, starts, blocks.data(), alpha, texts, heads, size, window, bounds[item],
             bounds[item + 1], context, weights);
    });
}

template <class T>
void ring_backward(const T *qkv, const int64_t *rows, const T *own, const int64_t *own_rows, const T *relay,
                   const int64_t *starts, const T *alpha, int64_t texts, int64_t heads, int64_t size, int64_t window,
                   const T *gradient, const T *weights, T *by_qkv, T *by_own, T *by_relay, T *by_alpha,
                   int64_t threads) {
    const auto bounds = split_texts(starts, texts), blocks = first_blocks(starts, texts);
    const int64_t items = int64_t(bounds.size()) - 1;
    std::vector<T> parts(items * heads);
    for_each(items, threads, [&](int64_t item) {
        int64_t longest = 0;
        for (int64_t text = bounds[item]; text < bounds[item + 1]; ++text)
            longest = blocks[text + 1] - blocks[text] > longest ? blocks[text + 1] - blocks[text] : longest;
        std::vector<T> scratch(longest * 8 * heads * (2 * window + 3));
        CALL(ring_backward_of, qkv, rows, own, own_rows, relay, starts, blocks.data(), alpha, texts, heads, size, window, bounds[item],
             bounds[item + 1], gradient, weights, by_qkv, by_own, by_relay, &parts[item * heads], scratch.data());
    });
    add_up(parts, heads, by_alpha);
}

template <class T>
void star_forward(const T *satellites, const T *relay, const int64_t *starts, const T *alpha, const T *folded,
                  const T *shift, const T *scores, const T *own_scores, int64_t texts, int64_t heads, int64_t dim,
                  T *mixture, T *weights, T *own_weights, T *maximum, int64_t *where, int64_t threads) {
    const auto bounds = split_texts(starts, texts);
    for_each(int64_t(bounds.size()) - 1, threads, [&](int64_t item) {
        CALL(star_forward_of, satellites, relay, starts, alpha, folded, shift, scores, own_scores, texts, heads, dim,
             bounds[item], bounds[item + 1], mixture, weights, own_weights, maximum, where);
    });
}

template <class T>
void star_backward(const T *satellites, const T *relay, const int64_t *starts, const T *alpha, const T *folded,
                   int64_t texts, int64_t heads, int64_t dim, const T *gradient, const T *maximum_gradient,
                   const int64_t *where, const T *weights, const T *own_weights, T *by_satellites, T *by_relay,
                   T *by_folded, T *by_scores, T *by_own_scores, T *by_alpha, int64_t threads) {
    const auto bounds = split_texts(starts, texts);
    const int64_t items = int64_t(bounds.size()) - 1;
    std::vector<T> parts(items * heads);
    for_each(items, threads, [&](int64_t item) {
        CALL(star_backward_of, satellites, relay, starts, alpha, folded, texts, heads, dim, bounds[item],
             bounds[item + 1], gradient, maximum_gradient, where, weights, own_weights, by_satellites, by_relay,
             by_folded, by_scores, by_own_scores, &parts[item * heads]);
    });
    add_up(parts, heads, by_alpha);
}

template <class T>
void norm_forward(const T *x, const T *weight, const T *bias, int64_t tokens, int64_t dim, double share, int64_t seed,
                  const int64_t *numbers, T *output, T *statistics, int64_t threads) {
    for_each((tokens + TOKENS_PER_ITEM - 1) / TOKENS_PER_ITEM, threads, [&](int64_t item) {
        const int64_t first = item * TOKENS_PER_ITEM, end = first + TOKENS_PER_ITEM;
        CALL(norm_forward, x, weight, bias, first, end < tokens ? end : tokens, dim, share, seed, numbers, output,
             statistics);
    });
}

template <class T>
void norm_backward(const T *gradient, const T *output, const T *x, const T *statistics, const T *weight, int64_t tokens,
                   int64_t dim, double share, int64_t seed, const int64_t *numbers, T *by_x, T *by_weight, T *by_bias,
                   int64_t threads) {
    const int64_t items = (tokens + TOKENS_PER_ITEM - 1) / TOKENS_PER_ITEM;
    std::vector<T> weights(items * dim), biases(items * dim);
    for_each(items, threads, [&](int64_t item) {
        const int64_t first = item * TOKENS_PER_ITEM, end = first + TOKENS_PER_ITEM;
        CALL(norm_backward, gradient, output, x, statistics, weight, first, end < tokens ? end : tokens, dim, share,
             seed, numbers, by_x, &weights[item * dim], &biases[item * dim]);
    });
    add_up(weights, dim, by_weight);
    add_up(biases, dim, by_bias);
}

} // namespace

EXPORT int linker_abi(void) { return 9; }
EXPORT const char *linker_isa(void) { return has_avx2() ? "avx2" : "portable"; }
EXPORT void linker_set_parallel(void *function) { gomp_parallel = reinterpret_cast<GompParallel>(function); }

// These run in the thread that calls them.
EXPORT void linker_row_products(const int8_t *rows, const int16_t *vector, const float *factors, int64_t count,
                                int64_t dim, float *products) {
    CALL(row_products, rows, vector, factors, count, dim, products);
}
EXPORT void linker_tfidf(const PostingsOfSegment *segments, int64_t count, const Range *ranges, const Range *repeats,
                         int64_t words, const double *first, const double *second, const double *first_table,
                         const double *second_table, const double *squares, float least, float *scores) {
    CALL(tfidf, segments, count, ranges, repeats, words, first, second, first_table, second_table, squares, least,
         scores);
}
#define EXPORT_FOR(T, suffix)                                                                                          \
    EXPORT void linker_ring_forward_##suffix(                                                                          \
        const T *qkv, const int64_t *rows, const T *own, const int64_t *own_rows, const T *relay,                      \
        const int64_t *starts, const T *alpha, int64_t texts, int64_t heads, int64_t size, int64_t window, T *context, \
        T *weights, int64_t threads) {                                                                                 \
        ring_forward<T>(qkv, rows, own, own_rows, relay, starts, alpha, texts, heads, size, window, context, weights,  \
                        threads);                                                                                      \
    }                                                                                                                  \
    EXPORT void linker_ring_backward_##suffix(                                                                         \
        const T *qkv, const int64_t *rows, const T *own, const int64_t *own_rows, const T *relay,                      \
        const int64_t *starts, const T *alpha, int64_t texts, int64_t heads, int64_t size, int64_t window,             \
        const T *gradient, const T *weights, T *by_qkv, T *by_own, T *by_relay, T *by_alpha, int64_t threads) {        \
        ring_backward<T>(qkv, rows, own, own_rows, relay, starts, alpha, texts, heads, size, window, gradient,         \
                         weights, by_qkv, by_own, by_relay, by_alpha, threads);                                        \
    }                                                                                                                  \
    EXPORT void linker_star_forward_##suffix(                                                                          \
        const T *satellites, const T *relay, const int64_t *starts, const T *alpha, const T *folded, const T *shift,   \
        const T *scores, const T *own_scores, int64_t texts, int64_t heads, int64_t dim, T *mixture, T *weights,       \
        T *own_weights, T *maximum, int64_t *where, int64_t threads) {                                                 \
        star_forward<T>(satellites, relay, starts, alpha, folded, shift, scores, own_scores, texts, heads, dim,        \
                        mixture, weights, own_weights, maximum, where, threads);                                       \
    }                                                                                                                  \
    EXPORT void linker_star_backward_##suffix(                                                                         \
        const T *satellites, const T *relay, const int64_t *starts, const T *alpha, const T *folded, int64_t texts,    \
        int64_t heads, int64_t dim, const T *gradient, const T *maximum_gradient, const int64_t *where,                \
        const T *weights, const T *own_weights, T *by_satellites, T *by_relay, T *by_folded, T *by_scores,             \
        T *by_own_scores, T *by_alpha, int64_t threads) {                                                              \
        star_backward<T>(satellites, relay, starts, alpha, folded, texts, heads, dim, gradient, maximum_gradient,      \
                         where, weights, own_weights, by_satellites, by_relay, by_folded, by_scores, by_own_scores,    \
                         by_alpha, threads);                                                                           \
    }                                                                                                                  \
    EXPORT void linker_norm_forward_##suffix(const T *x, const T *weight, const T *bias, int64_t tokens, int64_t dim,  \
                                             double share, int64_t seed, const int64_t *numbers, T *output,            \
                                             T *statistics, int64_t threads) {                                         \
        norm_forward<T>(x, weight, bias, tokens, dim, share, seed, numbers, output, statistics, threads);              \
    }                                                                                                                  \
    EXPORT void linker_norm_backward_##suffix(                                                                         \
        const T *gradient, const T *output, const T *x, const T *statistics, const T *weight, int64_t tokens,          \
        int64_t dim, double share, int64_t seed, const int64_t *numbers, T *by_x, T *by_weight, T *by_bias,            \
        int64_t threads) {                                                                                             \
        norm_backward<T>(gradient, output, x, statistics, weight, tokens, dim, share, seed, numbers, by_x, by_weight,  \
                         by_bias, threads);                                                                            \
    }
EXPORT_FOR(float, f32)
EXPORT_FOR(double, f64)
