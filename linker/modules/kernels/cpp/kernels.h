// All kernels for one set of instructions; native.cpp includes this once per set, inside a namespace.

#include "vectors.h"
#include "entmax.h"
#include "ring.h"
#include "norm.h"
#include "star.h"
#include "scoring.h"

template <class T>
void ring_forward_of(const T *qkv, const int64_t *rows, const T *own, const int64_t *own_rows, const T *relay,
                     const int64_t *starts, const int64_t *blocks, const T *alpha, int64_t texts, int64_t heads,
                     int64_t size, int64_t window, int64_t first, int64_t last, T *context, T *weights) {
    with_sizes(qkv, rows, own, own_rows, relay, starts, blocks, alpha, texts, heads, size, window,
               [&](const auto &ring) { ring_forward_on<T>(ring, first, last, context, weights); });
}
template <class T>
void ring_backward_of(const T *qkv, const int64_t *rows, const T *own, const int64_t *own_rows, const T *relay,
                      const int64_t *starts, const int64_t *blocks, const T *alpha, int64_t texts, int64_t heads,
                      int64_t size, int64_t window, int64_t first, int64_t last, const T *gradient, const T *weights,
                      T *by_qkv, T *by_own, T *by_relay, T *by_alpha, T *scores) {
    with_sizes(qkv, rows, own, own_rows, relay, starts, blocks, alpha, texts, heads, size, window,
               [&](const auto &ring) {
                   ring_backward_on<T>(ring, first, last, gradient, weights, by_qkv, by_own, by_relay, by_alpha, scores);
               });
}
template <class T>
void star_forward_of(const T *satellites, const T *relay, const int64_t *starts, const T *alpha, const T *folded,
                     const T *shift, const T *scores, const T *own_scores, int64_t texts, int64_t heads, int64_t dim,
                     int64_t first, int64_t last, T *mixture, T *weights, T *own_weights, T *maximum, int64_t *where) {
    star_forward<T>({satellites, relay, starts, alpha, folded, shift, scores, own_scores, texts, heads, dim}, first,
                    last, mixture, weights, own_weights, maximum, where);
}
template <class T>
void star_backward_of(const T *satellites, const T *relay, const int64_t *starts, const T *alpha, const T *folded,
                      int64_t texts, int64_t heads, int64_t dim, int64_t first, int64_t last, const T *gradient,
                      const T *maximum_gradient, const int64_t *where, const T *weights, const T *own_weights,
                      T *by_satellites, T *by_relay, T *by_folded, T *by_scores, T *by_own_scores, T *by_alpha) {
    star_backward<T>({satellites, relay, starts, alpha, folded, nullptr, nullptr, nullptr, texts, heads, dim}, first,
                     last, gradient, maximum_gradient, where, weights, own_weights, by_satellites, by_relay, by_folded,
                     by_scores, by_own_scores, by_alpha);
}
