//! Messages that a call sends or receives before it returns, and probing for them.

use core::ffi::c_int;

use proust_log::operations::Operation;
use proust_log::records::{Envelope, Received};
use proust_mpi_abi::abi::SUCCESS;
use proust_mpi_abi::status::MOST_BYTES;

use crate::mpi::call::{self, Begun, begin, bracket, end, end_completing, envelope, message, poll};
use crate::mpi::communicators;
use crate::mpi::library::{self, Library, is_place, written};
use crate::mpi::marks::{self, Message, may_be};
use crate::mpi::requests::{self, Of};
use crate::mpi::table::functions;
use crate::operation::exact::Facts;
use crate::operation::here;

/// Room for a status where the program does not want one.
#[repr(C, align(8))]
struct OwnStatus([u8; MOST_BYTES]);

/// Makes a call with a status that can be read: the program's, or our own. `finish` ends it, with the status.
#[inline(always)]
fn with_any_status(
    operation: Operation,
    status: usize,
    call: impl FnOnce(usize) -> c_int,
    finish: impl FnOnce(&Begun, c_int, *const u8),
) -> c_int {
    let mut marker = 0;
    let mut own = OwnStatus([0; MOST_BYTES]);
    let begun = begin(operation, here!(), &mut marker);
    let Some(library) = library::get().filter(|_| begun.is_followed()) else {
        let result = call(status);
        if begun.is_followed() {
            end(&begun, result, |_| Facts::default());
        } else {
            begun.end_inside(result);
        }
        return result;
    };
    let status = if status == library.abi.status_ignore { own.0.as_mut_ptr() as usize } else { status };
    let result = call(status);
    finish(&begun, result, status as *const u8);
    result
}

/// As [`with_any_status`]; `facts` gets the status of a call that succeeded.
#[inline(always)]
fn with_status(
    operation: Operation,
    status: usize,
    call: impl FnOnce(usize) -> c_int,
    facts: impl FnOnce(&'static Library, *const u8) -> Facts,
) -> c_int {
    with_any_status(operation, status, call, |begun, result, status| {
        end(begun, result, |library| facts(library, status));
    })
}

/// As [`with_status`], of a call that sends, which `facts` says first, and receives. `asked` says what it was
/// to send and to receive, if it failed.
#[inline(always)]
fn with_both(
    operation: Operation,
    status: usize,
    call: impl FnOnce(usize) -> c_int,
    facts: impl FnOnce(&'static Library, *const u8) -> (Facts, Received),
    asked: impl FnOnce(&'static Library) -> (Facts, Received),
) -> c_int {
    with_any_status(operation, status, call, |begun, result, status| {
        end_completing(begun, result, 1, |library, output| {
            let (sent, received) = match result {
                SUCCESS => facts(library, status),
                _ => asked(library),
            };
            requests::received_at_once(received, output);
            sent
        });
    })
}

/// As [`with_status`], of a receive. `asked` says what it was to receive, if it failed: it may have got it.
#[inline(always)]
fn with_receive(
    operation: Operation,
    status: usize,
    call: impl FnOnce(usize) -> c_int,
    facts: impl FnOnce(&'static Library, *const u8) -> Facts,
    asked: impl FnOnce(&'static Library) -> Facts,
) -> c_int {
    with_any_status(operation, status, call, |begun, result, status| match result {
        SUCCESS => end(begun, result, |library| facts(library, status)),
        _ => end_completing(begun, result, 0, |library, _| asked(library)),
    })
}

/// A message that a call which failed was to send or to receive.
#[cold]
fn asked(library: &Library, communicator: usize, peer: usize, tag: usize) -> Facts {
    Facts {
        object: communicators::known_number(library, communicator).into(),
        object2: envelope(library, peer, tag).word(),
        ..Facts::default()
    }
}

/// The same of a call that does both.
#[cold]
fn asked_both(
    library: &Library,
    communicator: usize,
    (target, send_tag): (usize, usize),
    (source, tag): (usize, usize),
) -> (Facts, Received) {
    let Envelope { partner: source, tag } = envelope(library, source, tag);
    (asked(library, communicator, target, send_tag), Received { source, tag, bytes: 0 })
}

/// What a receive from `source` has got.
fn received(library: &Library, source: usize, status: *const u8) -> Received {
    if call::rank(library, source) == Envelope::NOBODY {
        return Received { source: Envelope::NOBODY, ..Received::default() };
    }
    // SAFETY: callers pass a status that a receive has filled in.
    unsafe {
        Received {
            source: library.abi.source(status),
            tag: library.abi.tag(status),
            bytes: library.received_bytes(status),
        }
    }
}

/// A message that was received or found, as the call's own record has it.
fn found(library: &Library, communicator: usize, source: usize, status: *const u8) -> Facts {
    let Received { source, tag, bytes } = received(library, source, status);
    let facts = message(library, communicator, Envelope { partner: source, tag }, (0, 0));
    Facts { bytes, ..facts }
}

functions! {
    [
        MPI_Send: MPI_Send MPI_Send_c, MPI_Ssend: MPI_Ssend MPI_Ssend_c, MPI_Bsend: MPI_Bsend MPI_Bsend_c,
        MPI_Rsend: MPI_Rsend MPI_Rsend_c,
    ] (buffer, count, datatype, peer, tag, communicator) {
        |operation, numbers, call| {
            if may_be(tag) {
                let message =
                    Message { buffer, count: numbers.number(count), datatype, peer, tag, communicator };
                if marks::send(&message, here!()) {
                    return SUCCESS;
                }
            }
            bracket(operation, call, |library| {
                let envelope = envelope(library, peer, tag);
                message(library, communicator, envelope, (numbers.number(count), datatype))
            })
        }
    };
    [MPI_Recv: MPI_Recv MPI_Recv_c] (buffer, count, datatype, peer, tag, communicator, status) {
        |operation, numbers, call| {
            if may_be(tag) {
                let message =
                    Message { buffer, count: numbers.number(count), datatype, peer, tag, communicator };
                if marks::receive(&message, Some(status), here!()) {
                    return SUCCESS;
                }
            }
            with_receive(
                operation,
                status,
                // SAFETY: as the program called it, with a status in the place of none.
                |status| unsafe { real(buffer, count, datatype, peer, tag, communicator, status) },
                |library, status| found(library, communicator, peer, status),
                |library| asked(library, communicator, peer, tag),
            )
        }
    };
    [MPI_Sendrecv: MPI_Sendrecv MPI_Sendrecv_c] (
        sent, send_count, send_type, target, send_tag, buffer, count, datatype, source, tag, communicator,
            status
    ) {
        |operation, numbers, call| {
            if may_be(send_tag) {
                let ours = Message {
                    buffer: sent,
                    count: numbers.number(send_count),
                    datatype: send_type,
                    peer: target,
                    tag: send_tag,
                    communicator,
                };
                let count = numbers.number(count);
                let theirs = Message { buffer, count, datatype, peer: source, tag, communicator };
                if marks::exchange(&ours, &theirs, status, here!()) {
                    return SUCCESS;
                }
            }
            with_both(
                operation,
                status,
                // SAFETY: as above.
                |status| unsafe {
                    real(
                        sent, send_count, send_type, target, send_tag, buffer, count, datatype, source, tag,
                        communicator, status,
                    )
                },
                |library, status| {
                    let envelope = envelope(library, target, send_tag);
                    let amount = (numbers.number(send_count), send_type);
                    let sent = message(library, communicator, envelope, amount);
                    (sent, received(library, source, status))
                },
                |library| asked_both(library, communicator, (target, send_tag), (source, tag)),
            )
        }
    };
    [MPI_Sendrecv_replace: MPI_Sendrecv_replace MPI_Sendrecv_replace_c] (
        buffer, count, datatype, target, send_tag, source, tag, communicator, status
    ) {
        |operation, numbers, call| {
            if may_be(send_tag) {
                let count = numbers.number(count);
                let ours = Message { buffer, count, datatype, peer: target, tag: send_tag, communicator };
                let theirs = Message { peer: source, tag, ..ours };
                if marks::exchange(&ours, &theirs, status, here!()) {
                    return SUCCESS;
                }
            }
            with_both(
                operation,
                status,
                // SAFETY: as above.
                |status| unsafe {
                    real(buffer, count, datatype, target, send_tag, source, tag, communicator, status)
                },
                |library, status| {
                    let envelope = envelope(library, target, send_tag);
                    let sent = message(library, communicator, envelope, (numbers.number(count), datatype));
                    (sent, received(library, source, status))
                },
                |library| asked_both(library, communicator, (target, send_tag), (source, tag)),
            )
        }
    };
    [MPI_Probe: MPI_Probe] (source, tag, communicator, status) {
        |operation, numbers, call| with_status(
            operation,
            status,
            // SAFETY: as above.
            |status| unsafe { real(source, tag, communicator, status) },
            |library, status| found(library, communicator, source, status),
        )
    };
    [MPI_Iprobe: MPI_Iprobe] (source, tag, communicator, flag, status) {
        |operation, numbers, call| poll(
            operation,
            call,
            // SAFETY: the call has written it.
            || unsafe { *(flag as *const c_int) != 0 },
            0,
            |_, _, _| Facts::default(),
        )
    };
    [MPI_Mprobe: MPI_Mprobe] (source, tag, communicator, message, status) {
        |operation, numbers, call| with_status(
            operation,
            status,
            // SAFETY: as above.
            |status| unsafe { real(source, tag, communicator, message, status) },
            |library, status| {
                let facts = found(library, communicator, source, status);
                Facts { request: matched(library, message, &facts), ..facts }
            },
        )
    };
    [MPI_Improbe: MPI_Improbe] (source, tag, communicator, flag, message, status) {
        |operation, numbers, call| poll_with_status(
            operation,
            status,
            // SAFETY: as above.
            |status| unsafe { real(source, tag, communicator, flag, message, status) },
            flag,
            |library, status| {
                let facts = found(library, communicator, source, status);
                Facts { request: matched(library, message, &facts), ..facts }
            },
        )
    };
    [MPI_Mrecv: MPI_Mrecv MPI_Mrecv_c] (buffer, count, datatype, message, status) {
        |operation, numbers, call| {
            let begun_with = taken(message);
            with_status(
                operation,
                status,
                // SAFETY: as above.
                |status| unsafe { real(buffer, count, datatype, message, status) },
                |library, status| {
                    let request = begun_with.and_then(requests::free).map_or(0, |slot| u32::from(slot) + 1);
                    // SAFETY: the call has filled it in.
                    let bytes = unsafe { library.received_bytes(status) };
                    let count = u64::from(request != 0);
                    Facts { object2: count, bytes, request, ..Facts::default() }
                },
            )
        }
    };
    [MPI_Imrecv: MPI_Imrecv MPI_Imrecv_c] (buffer, count, datatype, message, request) {
        |operation, numbers, call| {
            let begun_with = taken(message);
            bracket(operation, call, |library| {
                let Some(slot) = begun_with.and_then(requests::free) else { return Facts::default() };
                // The message's slot becomes the request's: it is free, and mostly the lowest.
                // SAFETY: the call has written it.
                let handle = unsafe { written(library.abi, request) };
                let nothing = Envelope { partner: Envelope::ANY, tag: Envelope::ANY };
                let next = requests::begin(library, handle, Of::Other, nothing, 0, false);
                Facts { object2: u64::from(slot) + 1, request: next, ..Facts::default() }
            })
        }
    };
}

/// The message that a matched probe has found is received from here on: it is a request until then; one more
/// than its slot.
fn matched(library: &Library, message: usize, facts: &Facts) -> u32 {
    // SAFETY: the call has written it.
    let handle = unsafe { written(library.abi, message) };
    if handle == library.message_no_proc {
        return 0;
    }
    requests::begin(library, handle, Of::Other, Envelope::of_word(facts.object2), facts.bytes, false)
}

/// The handle of a message that is about to be received.
fn taken(message: usize) -> Option<usize> {
    let library = library::get().filter(|_| is_place(message))?;
    // SAFETY: the program gives the call a handle there.
    Some(unsafe { written(library.abi, message) })
}

/// As [`poll`], with a status that can be read.
#[inline(always)]
fn poll_with_status(
    operation: Operation,
    status: usize,
    call: impl FnOnce(usize) -> c_int,
    flag: usize,
    facts: impl FnOnce(&'static Library, *const u8) -> Facts,
) -> c_int {
    let mut own = OwnStatus([0; MOST_BYTES]);
    let is_none = library::get().is_some_and(|library| status == library.abi.status_ignore);
    let status = if is_none { own.0.as_mut_ptr() as usize } else { status };
    // `facts` writes what the thread's record must not be taken for: it is asked before.
    let found = core::cell::Cell::new(Facts::default());
    poll(
        operation,
        || {
            let result = call(status);
            // SAFETY: the call has written it.
            let has_arrived = || unsafe { *(flag as *const c_int) != 0 };
            if result == SUCCESS
                && has_arrived()
                && let Some(library) = library::get()
            {
                found.set(facts(library, status as *const u8));
            }
            result
        },
        // SAFETY: as above.
        || unsafe { *(flag as *const c_int) != 0 },
        0,
        |_, _, _| found.get(),
    )
}
