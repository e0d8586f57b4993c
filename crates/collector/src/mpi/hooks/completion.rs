//! Waiting for requests, or testing them.

use core::ffi::c_int;
use core::mem::MaybeUninit;

use proust_log::operations::Operation;
use proust_mpi_abi::abi::{Abi, SUCCESS, UNDEFINED};
use proust_mpi_abi::status::MOST_BYTES;

use crate::arena;
use crate::lane::Output;
use crate::mpi::call::{begin, end_completing, poll};
use crate::mpi::library::{self, Library};
use crate::mpi::requests::{self, Stretches};
use crate::mpi::table::functions;
use crate::operation::exact::Facts;
use crate::operation::here;

/// Requests for which a hook's own frame has room; of more they are kept in the collector's memory.
const FEW: usize = 16;

/// Handles as they were before a call, which overwrites them, and statuses where the program wants none.
struct Kept {
    count: usize,
    few: [MaybeUninit<usize>; FEW],
    many: *mut usize,
    few_statuses: [MaybeUninit<[u64; MOST_BYTES / 8]>; FEW],
    many_statuses: *mut u8,
}

impl Kept {
    /// Makes one that keeps nothing of what lies there. The arrays stay as they are, since a call that tests
    /// one request must not fill half a kilobyte: of them only what was written is read.
    #[inline(always)]
    fn lay(place: &mut MaybeUninit<Kept>) -> &mut Kept {
        let kept = place.as_mut_ptr();
        // SAFETY: fields of this very value; all others are arrays of numbers, of any value.
        unsafe {
            (&raw mut (*kept).count).write(0);
            (&raw mut (*kept).many).write(core::ptr::null_mut());
            (&raw mut (*kept).many_statuses).write(core::ptr::null_mut());
            &mut *kept
        }
    }

    /// Keeps the handles of an array of `count`.
    ///
    /// # Safety
    /// The array has so many.
    #[inline]
    unsafe fn keep(&mut self, abi: &Abi, array: usize, count: usize) {
        self.count = count;
        let place = if count <= FEW {
            self.few.as_mut_ptr().cast()
        } else {
            self.many = arena::pages(count * size_of::<usize>()).cast();
            self.many
        };
        if place.is_null() {
            // Nothing is known of them.
            self.count = 0;
            return;
        }
        for index in 0..count {
            // SAFETY: the caller's promise; there is room for so many.
            unsafe { place.add(index).write(abi.handle_at(array as *const u8, index)) };
        }
    }

    /// A place for so many statuses; the one given where there is no memory for them.
    #[inline]
    fn statuses(&mut self, abi: &Abi, given: usize, is_none: bool, count: usize) -> usize {
        if !is_none || count == 0 {
            return given;
        }
        if count <= FEW {
            return self.few_statuses.as_mut_ptr() as usize;
        }
        self.many_statuses = arena::pages(count * abi.status.bytes);
        if self.many_statuses.is_null() { given } else { self.many_statuses as usize }
    }

    #[inline]
    fn handle(&self, index: usize) -> usize {
        if index >= self.count {
            0
        } else if self.many.is_null() {
            // SAFETY: written by `keep`, as all below `count`.
            unsafe { self.few[index].assume_init() }
        } else {
            // SAFETY: memory of `count` handles.
            unsafe { *self.many.add(index) }
        }
    }

    /// Gives memory back.
    fn end(&self, abi: &Abi) {
        // SAFETY: taken with these sizes, and not used any more.
        unsafe {
            if !self.many.is_null() {
                arena::give_back(self.many.cast(), self.count * size_of::<usize>());
            }
            if !self.many_statuses.is_null() {
                arena::give_back(self.many_statuses, self.count * abi.status.bytes);
            }
        }
    }
}

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

/// The statuses that a call was given.
#[derive(Clone, Copy)]
struct Statuses {
    place: usize,
    /// Whether nothing can be read there.
    is_none: bool,
}

impl Statuses {
    #[inline]
    fn at(self, abi: &Abi, index: usize) -> *const u8 {
        if self.is_none {
            return core::ptr::null();
        }
        // SAFETY: the call had room for one for each request.
        unsafe { abi.status_at(self.place as *const u8, index) }
    }
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
    for index in 0..kept.count {
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
    for index in 0..kept.count {
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
    for position in 0..usize::try_from(count).unwrap_or(0).min(kept.count) {
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
        |operation, numbers, call| test(
            operation,
            (request, 1),
            (status, 1, one_ignored),
            // SAFETY: as above.
            |status| unsafe { real(request, flag, status) },
            // SAFETY: the call has written it.
            || unsafe { read(flag) } != 0,
            |library, kept, statuses, _, output| {
                one_of(library, kept.handle(0), statuses.at(library.abi, 0), output)
            },
        )
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
