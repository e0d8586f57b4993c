//! Programs that confine themselves: system call filters, another root folder, another user, no counter.
//!
//! A filter may kill the process for any system call of the collector's: the record ends before it is
//! installed, and children are not followed. Another root or user takes the way to the log's file away: room
//! is reserved before.

use core::ffi::{c_char, c_int, c_long, c_ulong};

use libc::{gid_t, size_t, uid_t};
use proust_log::layout::Ending;
use proust_log::records::NoteCode;

use super::names;
use crate::interpose::interpose;
use crate::{clock, lane, life, logfile, process, room};

/// Room for the time afterwards: minutes of a usual program.
const AHEAD_BYTES: u64 = 4 << 20;

fn reserve_ahead() {
    if let Some(life) = life::in_hook()
        && !life::is_borrowed(life)
    {
        room::apart(|| logfile::reserve_ahead(AHEAD_BYTES));
    }
}

/// Ends the record: from here on the process may only make the system calls that it allows itself.
fn end_before_filter() {
    let Some(life) = life::in_hook() else { return };
    if life::is_borrowed(life) {
        return;
    }
    if let Some(lane) = lane::current() {
        lane.with_record(|record| record.note(NoteCode::Confined, 0));
    }
    process::end_for_good(life, Ending::Confined);
}

/// Whether these arguments of `seccomp` install a filter. Some programs ask in this way whether they could.
pub fn installs_filter(operation: usize, filter: usize) -> bool {
    const SET_MODE_STRICT: usize = 0;
    const SET_MODE_FILTER: usize = 1;
    operation == SET_MODE_STRICT || operation == SET_MODE_FILTER && filter != 0
}

/// A filter is about to be installed through `syscall`.
pub fn before_filter(operation: usize, filter: usize) {
    if installs_filter(operation, filter) {
        end_before_filter();
    }
}

/// The program is about to change something of itself: a filter may be installed, or the processor's counter
/// forbidden.
pub fn before_change(option: c_int, a: c_ulong, b: c_ulong) {
    let strict = a == libc::SECCOMP_MODE_STRICT.into();
    let filters = strict || a == libc::SECCOMP_MODE_FILTER.into() && b != 0;
    match option {
        libc::PR_SET_SECCOMP if filters => end_before_filter(),
        libc::PR_SET_TSC if a as c_int == libc::PR_TSC_SIGSEGV => clock::forbid_counter(),
        _ => {}
    }
}

/// `prctl`, whose arguments after the first depend on it.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn prctl(
    option: c_int,
    a: c_ulong,
    b: c_ulong,
    c: c_ulong,
    d: c_ulong,
) -> c_int {
    let Some(function) = real::prctl() else { return -1 };
    before_change(option, a, b);
    // SAFETY: the real function with the registers that the program filled.
    let result = unsafe { function(option, a, b, c, d) };
    if option == libc::PR_SET_NAME && result == 0 {
        names::named_itself();
    }
    result
}

macro_rules! leaving {
    ($( $name:ident ( $($argument:ident : $type:ty as $grammar:ident $(($($of:ident),*))?),* ); )*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
                let Some(function) = real::$name() else { return -1 };
                reserve_ahead();
                // SAFETY: the real function with the arguments that the program gave.
                unsafe { function($($argument),*) }
            }
        )*
        interpose! {
            prctl(
                option: c_int as number(option), a: c_ulong as word, b: c_ulong as word, c: c_ulong as word,
                d: c_ulong as word,
            ) -> c_int, or -1;
            $( $name($($argument: $type as $grammar $(($($of),*))?),*) -> c_int, or -1; )*
        }
    };
}
leaving! {
    chroot(path: *const c_char as path);
    setuid(user: uid_t as number(user));
    seteuid(user: uid_t as number(user));
    setreuid(real_user: uid_t as number(user), effective: uid_t as number(user));
    setresuid(real_user: uid_t as number(user), effective: uid_t as number(user),
        saved: uid_t as number(user));
    setgid(group: gid_t as number(group));
    setegid(group: gid_t as number(group));
    setregid(real_group: gid_t as number(group), effective: gid_t as number(group));
    setresgid(real_group: gid_t as number(group), effective: gid_t as number(group),
        saved: gid_t as number(group));
    setgroups(count: size_t as number(count), groups: *const gid_t as inputs(group, count));
    unshare(flags: c_int as number(flags));
    setns(file: c_int as fd, kind: c_int as number(kind));
}

/// The call `pivot_root`, which has no function of its own.
pub fn before_call(number: c_long) {
    if number == libc::SYS_pivot_root {
        reserve_ahead();
    }
}
