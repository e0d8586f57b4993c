//! Loops that only wait are told from loops that work, as compilers make them.

use crate::build::{addresses_of, build, resolve, symbols};

const LOOPS: &str = r#"#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
void plain_wait(volatile int *flag) { while (*flag == 0) continue; }
void wait_acquire(atomic_int *flag) {
    while (!atomic_load_explicit(flag, memory_order_acquire)) continue;
}
__attribute__((noinline, noipa)) void __kmpc_flush(void *place) { __asm__ volatile("" : : "r"(place)); }
void wait_flush(volatile int *flag) { while (*flag == 0) __kmpc_flush(0); }
void plain_fence(volatile int *flag) { while (*flag == 0) __sync_synchronize(); }
void wait_for_two(volatile int *a, volatile long *b) { while (*a == 0 || *b < 3) continue; }
void scan_for_all(volatile char *flags) {
    for (;;) {
        int all = 1;
        for (int i = 0; i < 16; i++)
            if (!flags[i]) { all = 0; break; }
        if (all) return;
    }
}
void wait_pausing(atomic_int *lock) {
    while (atomic_exchange(lock, 1))
        while (atomic_load_explicit(lock, memory_order_relaxed)) __builtin_ia32_pause();
}
int wait_counting(atomic_int *flag, int times) {
    for (int i = 0; i < times; i++) {
        if (atomic_load(flag)) return 1;
        __builtin_ia32_pause();
    }
    return 0;
}
void wait_setting(atomic_flag *lock) { while (atomic_flag_test_and_set(lock)) continue; }

long work_sum(const long *v, int n) { long s = 0; for (int i = 0; i < n; i++) s += v[i]; return s; }
size_t work_length(const char *s) { size_t n = 0; while (s[n]) n++; return n; }
struct link { struct link *next; };
int work_chase(const struct link *at) { int n = 0; while (at) { at = at->next; n++; } return n; }
const struct link *work_last(const struct link *at) { while (at->next) at = at->next; return at; }
int work_collatz(long n) {
    int steps = 0;
    while (n != 1) { n = n & 1 ? 3 * n + 1 : n / 2; steps++; }
    return steps;
}
void work_copy(char *to, const char *from, int n) { for (int i = 0; i < n; i++) to[i] = from[i]; }
void work_clear(volatile int *at) { while (*at) *at = 0; }
double work_dot(const double *a, const double *b, int n) {
    double s = 0;
    for (int i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}
int work_search(const int *v, int n, int x) {
    int low = 0;
    while (low < n) {
        int mid = low + (n - low) / 2;
        if (v[mid] < x) low = mid + 1; else n = mid;
    }
    return low;
}
long work_add(_Atomic long *sum, long n) {
    long old = atomic_load(sum);
    while (!atomic_compare_exchange_weak(sum, &old, old + n)) continue;
    return old;
}
uint32_t work_mix(uint32_t x, int n) {
    for (int i = 0; i < n; i++) { x ^= x << 13; x ^= x >> 17; x ^= x << 5; }
    return x;
}
long work_sequence(volatile unsigned *sequence, volatile long *data) {
    unsigned before;
    long found;
    do { before = *sequence; found = *data; } while (before != *sequence);
    return found;
}
int work_calling(volatile int *flag, int (*next)(void)) { while (*flag == 0) next(); return 0; }
int main(void) { return 0; }
"#;

/// Code that was not optimised shows it in `plain_…` only, since it keeps in memory what it computes. The
/// loop around the one of `scan_…` carries nothing, but a compiler may join both.
#[cfg(target_arch = "x86_64")]
#[test]
fn loops_that_only_wait_are_found_and_no_others() {
    for compiler in ["gcc", "clang"] {
        for optimisation in ["-O0", "-O1", "-O2", "-O3", "-Os"] {
            let Some(program) = build(compiler, &[("loops.c", LOOPS)], &[optimisation, "-w"]) else { break };
            for (name, symbol) in symbols(&program.binary) {
                let addresses = addresses_of(symbol, 1);
                let structure = resolve(&program.binary, &addresses);
                let waits = structure.addresses.values().filter(|address| address.waits).count();
                let is_wait =
                    name.starts_with("plain_") || name.starts_with("wait_") && optimisation != "-O0";
                if is_wait || name.starts_with("work_") {
                    assert_eq!(waits > 0, is_wait, "{compiler} {optimisation} {name}: {waits} addresses");
                }
            }
        }
    }
}
