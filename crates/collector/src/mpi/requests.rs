//! Requests from their start to their completion.
//!
//! Each has a slot ([`super::slots`]), by which the log names it. Implementations give the same handle for
//! several operations that are complete already, so a handle may represent several requests. So it may, too,
//! where a thread has not noticed yet that its request is complete, and another one got the handle for the
//! next. Most requests are completed by the thread that started them: of several that one's is meant.

use core::sync::atomic::{AtomicU64, Ordering};

use proust_log::records::{Completed, Envelope, NO_SLOT, RECEIVED_CANCELLED, Received};

use super::handles::{Handles, Words};
use super::library::Library;
use super::slots::Slots;
use crate::lane::{self, Output};

/// What a request is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// A message that is sent, a collective, or something that the log says nothing more of.
    Other,
    /// A message that is received: its completion shows what it got.
    Receive,
}

/// A request that is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its slot.
    pub slot: u16,
    /// What it is of.
    pub of: Of,
    /// Whether it stays after its completion, to be started again.
    pub is_persistent: bool,
    /// Whether it is under way.
    pub is_active: bool,
    /// Whether it was asked to be cancelled.
    pub is_cancelled: bool,
    /// What it was started with.
    pub envelope: Envelope,
    /// Of a message.
    pub bytes: u64,
}

const RECEIVE: u64 = 1 << 16;
const PERSISTENT: u64 = 1 << 17;
const ACTIVE: u64 = 1 << 18;
const CANCELLED: u64 = 1 << 19;
/// Of the first word, what is not of the thread that started it.
const FLAGS: u64 = (1 << 20) - 1;

/// What the first word of a request has of the calling thread: where its lane lies.
#[inline]
fn own() -> u64 {
    lane::current().map_or(0, |lane| (core::ptr::from_ref(lane) as u64) << 16 & !FLAGS)
}

/// Whether a request was started by the thread that `own` is of.
#[inline]
fn is_of(own: u64) -> impl Fn(u64) -> bool {
    move |flags| flags & !FLAGS == own
}

impl Request {
    fn words(&self) -> Words {
        let flag = |is: bool, bit: u64| if is { bit } else { 0 };
        [
            u64::from(self.slot)
                | flag(self.of == Of::Receive, RECEIVE)
                | flag(self.is_persistent, PERSISTENT)
                | flag(self.is_active, ACTIVE)
                | flag(self.is_cancelled, CANCELLED),
            self.envelope.word(),
            self.bytes,
        ]
    }

    fn of_words([flags, envelope, bytes]: Words) -> Request {
        Request {
            slot: flags as u16,
            of: if flags & RECEIVE == 0 { Of::Other } else { Of::Receive },
            is_persistent: flags & PERSISTENT != 0,
            is_active: flags & ACTIVE != 0,
            is_cancelled: flags & CANCELLED != 0,
            envelope: Envelope::of_word(envelope),
            bytes,
        }
    }
}

static BY_HANDLE: Handles = Handles::new();
static SLOTS: Slots = Slots::new();
static UNTRACKED: AtomicU64 = AtomicU64::new(0);

/// Requests that could not be followed.
pub fn untracked() -> u64 {
    UNTRACKED.load(Ordering::Relaxed)
}

/// In a forked child: there are none.
pub fn forget() {
    BY_HANDLE.clear();
    SLOTS.clear();
    UNTRACKED.store(0, Ordering::Relaxed);
}

/// A request was made; one more than its slot, as the log has it, 0 if it is not followed.
#[inline]
pub fn begin(
    library: &Library,
    handle: usize,
    of: Of,
    envelope: Envelope,
    bytes: u64,
    is_persistent: bool,
) -> u32 {
    // To nobody: it is complete, and has no message.
    if handle == library.request_null || envelope.partner == Envelope::NOBODY {
        return 0;
    }
    let Some(slot) = SLOTS.take() else {
        UNTRACKED.fetch_add(1, Ordering::Relaxed);
        return 0;
    };
    let is_active = !is_persistent;
    let request = Request { slot, of, is_persistent, is_active, is_cancelled: false, envelope, bytes };
    let [flags, envelope, bytes] = request.words();
    if !BY_HANDLE.put(handle, [flags | own(), envelope, bytes]) {
        SLOTS.give(slot);
        UNTRACKED.fetch_add(1, Ordering::Relaxed);
        return 0;
    }
    u32::from(slot) + 1
}

/// A persistent request is started; its slot.
pub fn start(handle: usize) -> Option<u16> {
    let was = BY_HANDLE.change(handle, 0, |flags| (flags | ACTIVE) & !CANCELLED)?;
    Some(was as u16)
}

/// A request is asked to be cancelled.
pub fn cancel(handle: usize) {
    BY_HANDLE.change(handle, 0, |flags| flags | CANCELLED);
}

/// A request is given up: nobody will complete it. Its slot.
pub fn free(handle: usize) -> Option<u16> {
    let request = Request::of_words(BY_HANDLE.take_wanted(handle, is_of(own()))?);
    SLOTS.give(request.slot);
    Some(request.slot)
}

/// A request that is complete is taken away, or waits to be started again.
#[inline]
fn complete(handle: usize) -> Option<Request> {
    let is_own = is_of(own());
    let words = BY_HANDLE.get_wanted(handle, &is_own)?;
    let request = Request::of_words(words);
    if request.is_persistent {
        BY_HANDLE.change(handle, 0, |flags| flags & !ACTIVE)?;
        return request.is_active.then_some(request);
    }
    let request = Request::of_words(BY_HANDLE.take_wanted(handle, is_own)?);
    SLOTS.give(request.slot);
    Some(request)
}

/// What a call of MPI completes or starts: writes all but the last stretch of neighbouring slots, which is
/// for the call's own record.
#[derive(Debug, Default)]
pub struct Stretches {
    first: u16,
    count: u16,
}

impl Stretches {
    /// One more.
    #[inline]
    pub fn add(&mut self, slot: u16, output: &mut Output) {
        if self.count > 0 && self.count < u16::MAX && self.first.checked_add(self.count) == Some(slot) {
            self.count += 1;
            return;
        }
        if self.count > 0 {
            output.push_of_call(self.first, self.count, &Completed {});
        }
        (self.first, self.count) = (slot, 1);
    }

    /// The last stretch: one more than its first slot, and how many there are; zeros = none.
    pub fn last(&self) -> (u32, u64) {
        if self.count == 0 { (0, 0) } else { (u32::from(self.first) + 1, self.count.into()) }
    }
}

/// A call has completed the request of this handle, with this status if it has one.
///
/// # Safety
/// `status` is null, or one that the library has filled in.
#[inline]
pub unsafe fn completed(
    library: &Library,
    handle: usize,
    status: *const u8,
    stretches: &mut Stretches,
    output: &mut Output,
) {
    if handle == library.request_null {
        return;
    }
    let Some(request) = complete(handle) else { return };
    if !status.is_null() && (request.of == Of::Receive || request.is_cancelled) {
        // SAFETY: the caller's promise.
        unsafe { received(library, &request, status, output) };
    }
    stretches.add(request.slot, output);
}

/// Says what a receive has got, where that was not known when it was started.
///
/// # Safety
/// As for [`completed`].
unsafe fn received(library: &Library, request: &Request, status: *const u8, output: &mut Output) {
    // SAFETY: the caller's promise.
    unsafe {
        if request.is_cancelled && library.is_cancelled(status) {
            let nothing = Received { source: Envelope::NOBODY, ..Received::default() };
            output.push_of_call(request.slot, RECEIVED_CANCELLED, &nothing);
            return;
        }
        if request.of != Of::Receive {
            return;
        }
        let (source, tag) = (library.abi.source(status), library.abi.tag(status));
        let bytes = library.received_bytes(status);
        // MPICH 4.0 leaves the status of `MPI_Isendrecv` empty: who asked for one message got that.
        let agrees = |asked: i32, got: i32| asked == Envelope::ANY || asked == got;
        if !agrees(request.envelope.partner, source) || !agrees(request.envelope.tag, tag) {
            return;
        }
        if (source, tag, bytes) != (request.envelope.partner, request.envelope.tag, request.bytes) {
            output.push_of_call(request.slot, 0, &Received { source, tag, bytes });
        }
    }
}

/// Says what the call itself received, besides what its own record says.
pub fn received_at_once(received: Received, output: &mut Output) {
    output.push_of_call(NO_SLOT, 0, &received);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_three_words() {
        for (of, is_persistent, is_active) in
            [(Of::Receive, false, true), (Of::Other, true, false), (Of::Receive, true, true)]
        {
            let request = Request {
                slot: 0xfedc,
                of,
                is_persistent,
                is_active,
                is_cancelled: is_active,
                envelope: Envelope { partner: Envelope::ANY, tag: 99 },
                bytes: 1 << 40,
            };
            assert_eq!(Request::of_words(request.words()), request);
        }
    }
}
