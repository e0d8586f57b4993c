//! Messages and other work that a call only starts, or prepares to be started.

use crate::mpi::call::{begin, bracket, end_completing, envelope, message, time};
use crate::mpi::half::Side;
use crate::mpi::library::{self, Library, written};
use crate::mpi::marks::{self, Message, may_be};
use crate::mpi::requests::{self, Of, Stretches};
use crate::mpi::table::functions;
use crate::operation::exact::Facts;
use crate::operation::here;
use core::ffi::c_int;

use proust_log::operations::Operation;
use proust_log::records::{Envelope, Received};
use proust_mpi_abi::abi::SUCCESS;

/// A message is on its way, or prepared, and has this request from now on.
fn started(library: &Library, of: Of, facts: Facts, request: usize, is_persistent: bool) -> Facts {
    // SAFETY: the call has written it.
    let handle = unsafe { written(library.abi, request) };
    let envelope = Envelope::of_word(facts.object2);
    Facts { request: requests::begin(library, handle, of, envelope, facts.bytes, is_persistent), ..facts }
}

/// A call starts to send and to receive with one request: the event has what is sent, a record before it what
/// it will receive, as far as that is known.
#[inline(always)]
fn exchange(
    operation: Operation,
    call: impl FnOnce() -> c_int,
    facts: impl FnOnce(&'static Library) -> (Facts, Received, usize),
) -> c_int {
    let mut marker = 0;
    let begun = begin(operation, here!(), &mut marker);
    let result = call();
    if begun.is_followed() {
        end_completing(&begun, result, 1, |library, output| {
            if result != SUCCESS {
                return Facts::default();
            }
            let (sent, expected, request) = facts(library);
            requests::received_at_once(expected, output);
            // SAFETY: the call has written it.
            let handle = unsafe { written(library.abi, request) };
            let Received { source: partner, tag, bytes } = expected;
            // Its status is of the receive, unless there is none.
            let request = match partner {
                Envelope::NOBODY => {
                    let envelope = Envelope::of_word(sent.object2);
                    requests::begin(library, handle, Of::Other, envelope, sent.bytes, false)
                }
                _ => {
                    let envelope = Envelope { partner, tag };
                    requests::begin(library, handle, Of::Receive, envelope, bytes, false)
                }
            };
            Facts { request, ..sent }
        });
    } else {
        begun.end_inside(result);
    }
    result
}

functions! {
    [
        MPI_Isend: MPI_Isend MPI_Isend_c, MPI_Issend: MPI_Issend MPI_Issend_c,
        MPI_Ibsend: MPI_Ibsend MPI_Ibsend_c, MPI_Irsend: MPI_Irsend MPI_Irsend_c,
    ] (buffer, count, datatype, peer, tag, communicator, request) {
        |operation, numbers, call| {
            if may_be(tag) {
                let message =
                    Message { buffer, count: numbers.number(count), datatype, peer, tag, communicator };
                if marks::send(&message, here!()) {
                    marks::complete(request);
                    return SUCCESS;
                }
            }
            bracket(operation, call, |library| {
                let envelope = envelope(library, peer, tag);
                let facts = message(library, communicator, envelope, (numbers.number(count), datatype));
                started(library, Of::Other, facts, request, false)
            })
        }
    };
    [MPI_Irecv: MPI_Irecv MPI_Irecv_c] (buffer, count, datatype, peer, tag, communicator, request) {
        |operation, numbers, call| {
            if may_be(tag) {
                let message =
                    Message { buffer, count: numbers.number(count), datatype, peer, tag, communicator };
                if marks::receive(&message, None, here!()) {
                    marks::complete(request);
                    return SUCCESS;
                }
            }
            bracket(operation, call, |library| {
                let envelope = envelope(library, peer, tag);
                let facts = message(library, communicator, envelope, (numbers.number(count), datatype));
                started(library, Of::Receive, facts, request, false)
            })
        }
    };
    [
        MPI_Send_init: MPI_Send_init MPI_Send_init_c, MPI_Ssend_init: MPI_Ssend_init MPI_Ssend_init_c,
        MPI_Bsend_init: MPI_Bsend_init MPI_Bsend_init_c, MPI_Rsend_init: MPI_Rsend_init MPI_Rsend_init_c,
    ] (buffer, count, datatype, peer, tag, communicator, request) {
        |operation, numbers, call| {
            if may_be(tag) {
                let message =
                    Message { buffer, count: numbers.number(count), datatype, peer, tag, communicator };
                let to_nobody = |peer, tag| {
                    // SAFETY: with the program's other arguments.
                    unsafe { real(buffer, count, datatype, peer, tag, communicator, request) }
                };
                if marks::prepare(&message, Side::Sent, request, to_nobody) {
                    return SUCCESS;
                }
            }
            bracket(operation, call, |library| {
                let envelope = envelope(library, peer, tag);
                let facts = message(library, communicator, envelope, (numbers.number(count), datatype));
                started(library, Of::Other, facts, request, true)
            })
        }
    };
    [MPI_Recv_init: MPI_Recv_init MPI_Recv_init_c] (buffer, count, datatype, peer, tag, communicator,
        request) {
        |operation, numbers, call| {
            if may_be(tag) {
                let message =
                    Message { buffer, count: numbers.number(count), datatype, peer, tag, communicator };
                let to_nobody = |peer, tag| {
                    // SAFETY: as above.
                    unsafe { real(buffer, count, datatype, peer, tag, communicator, request) }
                };
                if marks::prepare(&message, Side::Received, request, to_nobody) {
                    return SUCCESS;
                }
            }
            bracket(operation, call, |library| {
                let envelope = envelope(library, peer, tag);
                let facts = message(library, communicator, envelope, (numbers.number(count), datatype));
                started(library, Of::Receive, facts, request, true)
            })
        }
    };
    [MPI_Start: MPI_Start] (request) {
        |operation, numbers, call| {
            if marks::are_prepared()
                && let Some(library) = library::get()
                // SAFETY: the program gave a handle there.
                && marks::start(unsafe { written(library.abi, request) }, here!())
            {
                return call();
            }
            let mut marker = 0;
            let begun = begin(operation, here!(), &mut marker);
            let result = call();
            if begun.is_followed() {
                end_completing(&begun, result, 0, |library, _| {
                    // SAFETY: the program gave a handle there, which a start leaves as it is.
                    let slot = requests::start(unsafe { written(library.abi, request) });
                    let request = slot.map_or(0, |slot| u32::from(slot) + 1);
                    Facts { object2: slot.is_some().into(), request, ..Facts::default() }
                });
            } else {
                begun.end_inside(result);
            }
            result
        }
    };
    [MPI_Startall: MPI_Startall] (count, requests) {
        |operation, numbers, call| {
            if marks::are_prepared()
                && let Some(library) = library::get()
            {
                for index in 0..usize::try_from(count as i32).unwrap_or(0) {
                    // SAFETY: the program gave so many handles there.
                    marks::start(unsafe { library.abi.handle_at(requests as *const u8, index) }, here!());
                }
            }
            let mut marker = 0;
            let begun = begin(operation, here!(), &mut marker);
            let result = call();
            if begun.is_followed() {
                let number = usize::try_from(count as i32).unwrap_or(0);
                end_completing(&begun, result, number, |library, output| {
                    let mut stretches = Stretches::default();
                    for index in 0..number {
                        // SAFETY: as above, of each of so many.
                        let handle = unsafe { library.abi.handle_at(requests as *const u8, index) };
                        if let Some(slot) = requests::start(handle) {
                            stretches.add(slot, output);
                        }
                    }
                    let (request, object2) = stretches.last();
                    Facts { request, object2, ..Facts::default() }
                });
            } else {
                begun.end_inside(result);
            }
            result
        }
    };
    [MPI_Isendrecv: MPI_Isendrecv MPI_Isendrecv_c] (
        sent, send_count, send_type, target, send_tag, buffer, count, datatype, source, tag, communicator,
            request
    ) {
        |operation, numbers, call| exchange(operation, call, |library| {
            let sent = envelope(library, target, send_tag);
            let facts = message(library, communicator, sent, (numbers.number(send_count), send_type));
            let Envelope { partner, tag } = envelope(library, source, tag);
            let bytes = library.bytes(numbers.number(count), datatype);
            (facts, Received { source: partner, tag, bytes }, request)
        })
    };
    [MPI_Isendrecv_replace: MPI_Isendrecv_replace MPI_Isendrecv_replace_c] (
        buffer, count, datatype, target, send_tag, source, tag, communicator, request
    ) {
        |operation, numbers, call| exchange(operation, call, |library| {
            let sent = envelope(library, target, send_tag);
            let facts = message(library, communicator, sent, (numbers.number(count), datatype));
            let Envelope { partner, tag } = envelope(library, source, tag);
            (facts, Received { source: partner, tag, bytes: facts.bytes }, request)
        })
    };
    [MPI_Psend_init: MPI_Psend_init, MPI_Precv_init: MPI_Precv_init]
    (buffer, partitions, count, datatype, peer, tag, communicator, info, request) {
        |operation, numbers, call| time(operation, call)
    };
    [MPI_Pready: MPI_Pready] (partition, request) {
        |operation, numbers, call| time(operation, call)
    };
    [MPI_Pready_range: MPI_Pready_range] (first, last, request) {
        |operation, numbers, call| time(operation, call)
    };
    [MPI_Pready_list: MPI_Pready_list] (count, partitions, request) {
        |operation, numbers, call| time(operation, call)
    };
    [MPI_Request_free: MPI_Request_free] (request) {
        |operation, numbers, call| {
            let handle = library::get().map(|library| {
                // SAFETY: the program gives the call a handle there.
                unsafe { written(library.abi, request) }
            });
            handle.into_iter().for_each(marks::free);
            bracket(operation, call, |_| {
                let slot = handle.and_then(requests::free);
                let request = slot.map_or(0, |slot| u32::from(slot) + 1);
                Facts { object2: slot.is_some().into(), request, ..Facts::default() }
            })
        }
    };
    [MPI_Cancel: MPI_Cancel] (request) {
        |operation, numbers, call| bracket(operation, call, |library| {
            // SAFETY: as above.
            requests::cancel(unsafe { written(library.abi, request) });
            Facts::default()
        })
    };
}
