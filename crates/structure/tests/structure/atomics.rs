//! Instructions that change memory atomically are found, as compilers make them.

use crate::build::{addresses_of, build, resolve, symbols};

const CHANGES: &str = r#"#include <stdatomic.h>
long atomic_add_one(_Atomic long *sum) { return atomic_fetch_add(sum, 1); }
void atomic_count(_Atomic long *sum) { atomic_fetch_add_explicit(sum, 1, memory_order_relaxed); }
int atomic_swap(_Atomic int *lock) { return atomic_exchange(lock, 1); }
int atomic_replace(_Atomic long *sum, long *old) { return atomic_compare_exchange_strong(sum, old, 7); }
void plain_add(long *sum) { *sum += 0xf0f0f0f0; }
long plain_read(_Atomic long *sum) { return atomic_load(sum); }
void plain_copy(char *to, const char *from, int n) { for (int i = 0; i < n; i++) to[i] = from[i]; }
int main(void) { return 0; }
"#;

#[cfg(target_arch = "x86_64")]
#[test]
fn atomic_changes_are_found_and_nothing_else() {
    for compiler in ["gcc", "clang"] {
        for optimisation in ["-O0", "-O2", "-Os"] {
            let Some(program) = build(compiler, &[("changes.c", CHANGES)], &[optimisation, "-w"]) else {
                break;
            };
            for (name, symbol) in symbols(&program.binary) {
                let structure = resolve(&program.binary, &addresses_of(symbol, 1));
                let atomic = structure.addresses.values().filter(|address| address.is_atomic).count();
                let is_atomic = name.starts_with("atomic_");
                if is_atomic || name.starts_with("plain_") {
                    // Where it begins, and where the next instruction does.
                    assert_eq!(atomic, if is_atomic { 2 } else { 0 }, "{compiler} {optimisation} {name}");
                }
            }
        }
    }
}
