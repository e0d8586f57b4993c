//! Waiting for requests, or testing them.

use core::ffi::c_int;
use core::mem::MaybeUninit;

use proust_log::operations::Operation;
use proust_mpi_abi::abi::{Abi, SUCCESS, UNDEFINED};
use proust_mpi_abi::status::MOST_BYTES;

use crate::lane::{Lane, Output};
use crate::mpi::call::{begin, end_again, end_at_last, end_completing, enter_again, poll, polling_again};
use crate::mpi::kept::{Kept, Statuses};
use crate::mpi::library::{self, Library};
use crate::mpi::requests::{self, Stretches};
use crate::mpi::table::functions;
use crate::operation::exact::Facts;
use crate::operation::here;

#[inline]
fn number(word: usize) -> usize {
    usize::try_from(word as i32).unwrap_or(0)
}

/// The result of a call as a number in memory.
///
/// # Safety
/// The call has written one there.
#[inline]
unsafe fn read(place: usize) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { (place as *const c_int).read() }
}

/// All of the requests are complete, or, where the call says so, each for which its status does.
fn all_of(
    library: &'static Library,
    kept: &Kept,
    statuses: Statuses,
    result: c_int,
    output: &mut Output,
) -> Facts {
    let mut stretches = Stretches::default();
    for index in 0..kept.count() {
        let status = statuses.at(library.abi, index);
        // SAFETY: as the call has filled it in.
        let is_pending = result == library.abi.err_in_status
            && !status.is_null()
            && unsafe { library.abi.error(status) } == library.abi.err_pending;
        if !is_pending {
            // SAFETY: null, or as above.
            unsafe { requests::completed(library, kept.handle(index), status, &mut stretches, output) };
        }
    }
    facts(&stretches)
}

/// Whether a call with this result has written what it completed.
fn is_known(library: &Library, result: c_int) -> bool {
    result == SUCCESS || result == library.abi.err_in_status
}

/// The call failed: complete is what it has taken out of the program's array, where nothing has a status.
fn failed(library: &'static Library, kept: &Kept, requests: usize, output: &mut Output) -> Facts {
    let mut stretches = Stretches::default();
    for index in 0..kept.count() {
        // SAFETY: the program's array, from which as many handles were kept before the call.
        let now = unsafe { library.abi.handle_at(requests as *const u8, index) };
        if now == library.request_null && kept.handle(index) != now {
            // SAFETY: no status.
            unsafe {
                let handle = kept.handle(index);
                requests::completed(library, handle, core::ptr::null(), &mut stretches, output);
            }
        }
    }
    facts(&stretches)
}

/// One of the requests is complete, or none.
fn one_of(library: &'static Library, handle: usize, status: *const u8, output: &mut Output) -> Facts {
    let mut stretches = Stretches::default();
    // SAFETY: as the call has filled it in.
    unsafe { requests::completed(library, handle, status, &mut stretches, output) };
    facts(&stretches)
}

/// These of the requests are complete.
///
/// # Safety
/// `outcount` and `indices` are as the call has written them.
unsafe fn some_of(
    library: &'static Library,
    kept: &Kept,
    (outcount, indices): (usize, usize),
    statuses: Statuses,
    output: &mut Output,
) -> Facts {
    let mut stretches = Stretches::default();
    // SAFETY: the caller's promise.
    let count = unsafe { read(outcount) };
    for position in 0..usize::try_from(count).unwrap_or(0).min(kept.count()) {
        // SAFETY: as above; there are so many.
        let index = unsafe { read(indices + position * size_of::<c_int>()) };
        let (Ok(index), status) = (usize::try_from(index), statuses.at(library.abi, position)) else {
            continue;
        };
        // SAFETY: null, or as the call has filled it in.
        unsafe { requests::completed(library, kept.handle(index), status, &mut stretches, output) };
    }
    facts(&stretches)
}

fn facts(stretches: &Stretches) -> Facts {
    let (request, object2) = stretches.last();
    Facts { request, object2, ..Facts::default() }
}

/// Waits for requests. `call` gets the place for statuses, `facts` what was kept.
#[inline(always)]
fn wait(
    operation: Operation,
    (requests, count): (usize, usize),
    (statuses, how_many, ignored): (usize, usize, fn(&Abi) -> usize),
    call: impl FnOnce(usize) -> c_int,
    facts: impl FnOnce(&'static Library, &Kept, Statuses, c_int, &mut Output) -> Facts,
) -> c_int {
    let mut marker = 0;
    let mut place = MaybeUninit::uninit();
    let kept = Kept::lay(&mut place);
    let begun = begin(operation, here!(), &mut marker);
    let Some(library) = library::get().filter(|_| begun.is_followed()) else {
        let result = call(statuses);
        if begun.is_followed() {
            end_completing(&begun, result, 0, |_, _| Facts::default());
        } else {
            begun.end_inside(result);
        }
        return result;
    };
    // SAFETY: the program gives the call an array of so many requests.
    unsafe { kept.keep(library.abi, requests, count) };
    let is_none = statuses == ignored(library.abi);
    let place = kept.statuses(library.abi, statuses, is_none, how_many);
    let result = call(place);
    let statuses = Statuses { place, is_none: is_none && place == statuses };
    end_completing(&begun, result, 2 * count, |library, output| {
        if is_known(library, result) {
            facts(library, kept, statuses, result, output)
        } else {
            failed(library, kept, requests, output)
        }
    });
    kept.end(library.abi);
    result
}

fn one_ignored(abi: &Abi) -> usize {
    abi.status_ignore
}

fn all_ignored(abi: &Abi) -> usize {
    abi.statuses_ignore
}

/// As [`poll`], of requests: their handles are kept before the call.
#[inline(always)]
fn test(
    operation: Operation,
    (requests, count): (usize, usize),
    (statuses, how_many, ignored): (usize, usize, fn(&Abi) -> usize),
    call: impl FnOnce(usize) -> c_int,
    has_arrived: impl FnOnce() -> bool,
    facts: impl FnOnce(&'static Library, &Kept, Statuses, c_int, &mut Output) -> Facts,
) -> c_int {
    let mut place = MaybeUninit::uninit();
    let kept = Kept::lay(&mut place);
    let known = library::get();
    let (mut given, mut is_none) = (statuses, false);
    if let Some(library) = known {
        // SAFETY: the program gives the call an array of so many requests.
        unsafe { kept.keep(library.abi, requests, count) };
        is_none = statuses == ignored(library.abi);
        given = kept.statuses(library.abi, statuses, is_none, how_many);
    }
    let statuses = Statuses { place: given, is_none: is_none && given == statuses };
    let result = poll(
        operation,
        || call(given),
        has_arrived,
        2 * count,
        |library, result, output| {
            if is_known(library, result) {
                facts(library, kept, statuses, result, output)
            } else {
                failed(library, kept, requests, output)
            }
        },
    );
    if let Some(library) = known {
        kept.end(library.abi);
    }
    result
}

/// As [`test`], of one request. Nearly all such calls are in vain, and their number is without limit: these
/// need a small frame and little else.
#[inline(always)]
fn test_one(
    operation: Operation,
    (request, flag, status): (usize, usize, usize),
    call: impl Fn(usize) -> c_int,
) -> c_int {
    let Some((lane, library)) = polling_again() else {
        return test_at_first(operation, (request, flag, status), call);
    };
    // SAFETY: the program gives the call a request.
    let handle = unsafe { library.abi.handle_at(request as *const u8, 0) };
    let (mut place, mut marker) = (MaybeUninit::<[u64; MOST_BYTES / 8]>::uninit(), 0);
    let is_none = status == one_ignored(library.abi);
    let status = if is_none { place.as_mut_ptr() as usize } else { status };
    enter_again(lane, operation, here!(), &mut marker);
    let result = call(status);
    // SAFETY: the call has written it.
    if result == SUCCESS && unsafe { read(flag) } == 0 {
        end_again(lane);
    } else {
        end_test(lane, operation, (request, handle, status), result);
    }
    result
}

/// Apart, since it needs a large frame.
#[inline(never)]
fn test_at_first(
    operation: Operation,
    (request, flag, status): (usize, usize, usize),
    call: impl Fn(usize) -> c_int,
) -> c_int {
    test(
        operation,
        (request, 1),
        (status, 1, one_ignored),
        call,
        // SAFETY: the call has written it.
        || unsafe { read(flag) } != 0,
        |library, kept, statuses, _, output| {
            one_of(library, kept.handle(0), statuses.at(library.abi, 0), output)
        },
    )
}

/// A request that was tested again and again is complete, or the call failed. `handle` is what it was before,
/// `status` what the call was given.
#[inline(never)]
fn end_test(
    lane: &'static Lane,
    operation: Operation,
    (request, handle, status): (usize, usize, usize),
    result: c_int,
) {
    end_at_last(lane, operation, result, 2, |library, result, output| {
        if is_known(library, result) {
            return one_of(library, handle, status as *const u8, output);
        }
        let mut place = MaybeUninit::uninit();
        let kept = Kept::lay(&mut place);
        kept.keep_one(handle);
        failed(library, kept, request, output)
    });
}

functions! {
    [MPI_Wait: MPI_Wait] (request, status) {
        |operation, numbers, call| wait(
            operation,
            (request, 1),
            (status, 1, one_ignored),
            // SAFETY: as the program called it, with a status in the place of none.
            |status| unsafe { real(request, status) },
            |library, kept, statuses, _, output| {
                one_of(library, kept.handle(0), statuses.at(library.abi, 0), output)
            },
        )
    };
    [MPI_Waitall: MPI_Waitall] (count, requests, statuses) {
        |operation, numbers, call| wait(
            operation,
            (requests, number(count)),
            (statuses, number(count), all_ignored),
            // SAFETY: as above.
            |statuses| unsafe { real(count, requests, statuses) },
            all_of,
        )
    };
    [MPI_Waitany: MPI_Waitany] (count, requests, index, status) {
        |operation, numbers, call| wait(
            operation,
            (requests, number(count)),
            (status, 1, one_ignored),
            // SAFETY: as above.
            |status| unsafe { real(count, requests, index, status) },
            |library, kept, statuses, _, output| {
                // SAFETY: the call has written it.
                match unsafe { read(index) } {
                    UNDEFINED => Facts::default(),
                    at => one_of(library, kept.handle(at as usize), statuses.at(library.abi, 0), output),
                }
            },
        )
    };
    [MPI_Waitsome: MPI_Waitsome] (count, requests, outcount, indices, statuses) {
        |operation, numbers, call| wait(
            operation,
            (requests, number(count)),
            (statuses, number(count), all_ignored),
            // SAFETY: as above.
            |statuses| unsafe { real(count, requests, outcount, indices, statuses) },
            |library, kept, statuses, _, output| {
                // SAFETY: the call has written both.
                unsafe { some_of(library, kept, (outcount, indices), statuses, output) }
            },
        )
    };
    [MPI_Test: MPI_Test] (request, flag, status) {
        // SAFETY: as above.
        |operation, numbers, call| test_one(operation, (request, flag, status), |status| unsafe {
            real(request, flag, status)
        })
    };
    [MPI_Testall: MPI_Testall] (count, requests, flag, statuses) {
        |operation, numbers, call| test(
            operation,
            (requests, number(count)),
            (statuses, number(count), all_ignored),
            // SAFETY: as above.
            |statuses| unsafe { real(count, requests, flag, statuses) },
            // SAFETY: as above.
            || unsafe { read(flag) } != 0,
            all_of,
        )
    };
    [MPI_Testany: MPI_Testany] (count, requests, index, flag, status) {
        |operation, numbers, call| test(
            operation,
            (requests, number(count)),
            (status, 1, one_ignored),
            // SAFETY: as above.
            |status| unsafe { real(count, requests, index, flag, status) },
            // SAFETY: as above.
            || unsafe { read(flag) } != 0,
            |library, kept, statuses, _, output| {
                // SAFETY: as above.
                match unsafe { read(index) } {
                    UNDEFINED => Facts::default(),
                    at => one_of(library, kept.handle(at as usize), statuses.at(library.abi, 0), output),
                }
            },
        )
    };
    [MPI_Testsome: MPI_Testsome] (count, requests, outcount, indices, statuses) {
        |operation, numbers, call| test(
            operation,
            (requests, number(count)),
            (statuses, number(count), all_ignored),
            // SAFETY: as above.
            |statuses| unsafe { real(count, requests, outcount, indices, statuses) },
            // SAFETY: as above.
            || unsafe { read(outcount) } != 0,
            |library, kept, statuses, _, output| {
                // SAFETY: as above.
                unsafe { some_of(library, kept, (outcount, indices), statuses, output) }
            },
        )
    };
    [MPI_Parrived: MPI_Parrived] (request, partition, flag) {
        |operation, numbers, call| poll(
            operation,
            call,
            // SAFETY: as above.
            || unsafe { read(flag) } != 0,
            0,
            |_, _, _| Facts::default(),
        )
    };
    [MPI_Request_get_status: MPI_Request_get_status] (request, flag, status) {
        |operation, numbers, call| poll(
            operation,
            call,
            // SAFETY: as above.
            || unsafe { read(flag) } != 0,
            0,
            |_, _, _| Facts::default(),
        )
    };
    [MPI_Request_get_status_all: MPI_Request_get_status_all] (count, requests, flag, statuses) {
        |operation, numbers, call| poll(
            operation,
            call,
            // SAFETY: as above.
            || unsafe { read(flag) } != 0,
            0,
            |_, _, _| Facts::default(),
        )
    };
    [MPI_Request_get_status_any: MPI_Request_get_status_any] (count, requests, index, flag, status) {
        |operation, numbers, call| poll(
            operation,
            call,
            // SAFETY: as above.
            || unsafe { read(flag) } != 0,
            0,
            |_, _, _| Facts::default(),
        )
    };
    [MPI_Request_get_status_some: MPI_Request_get_status_some] (count, requests, outcount, indices,
        statuses) {
        |operation, numbers, call| poll(
            operation,
            call,
            // SAFETY: as above.
            || unsafe { read(outcount) } != 0,
            0,
            |_, _, _| Facts::default(),
        )
    };
}
