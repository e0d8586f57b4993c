//! Marks in calls of MPI: messages of a rank to itself under tags that no message may have, and
//! `MPI_Pcontrol`.
//!
//! The protocol of messages is that of an analyzer of MPI traces. A message of a rank to itself, in whatever
//! communicator, under the tag `AA iiii AA` (hexadecimal; `iiii` is a number of 16 bits) begins interval
//! `iiii`, one under `AA iiii BB` ends it. Such tags are negative, and a library refuses them: the calls are
//! answered here, never by the library, whether this process records or not. An interval begins when both
//! halves of its message were called, and ends when the first one is: so what the marks take is outside.

use core::ffi::{c_char, c_int};
use core::sync::atomic::{AtomicBool, Ordering};

use proust_log::records::{IntervalKind, IntervalOrigin, NO_NUMBER};
use proust_mpi_abi::abi::SUCCESS;
use proust_mpi_abi::status::Count;

use super::half::Side;
use super::handles::Handles;
use super::library::{self, Library};
use crate::hooks::readable;
use crate::lane;
use crate::marks::foreign::text;
use crate::marks::mark::{self, Key, Mark};
use crate::marks::requests;
use crate::path::memo::State;
use crate::raw;

/// How intervals of messages are called; their number is beside it.
const NAME: &[u8] = b"interval";

/// A half of a message, as its call has it.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// Where its content is, or goes.
    pub buffer: usize,
    /// How many elements.
    pub count: i64,
    /// Of which type.
    pub datatype: usize,
    /// The other end.
    pub peer: usize,
    /// Its tag.
    pub tag: usize,
    /// Its communicator.
    pub communicator: usize,
}

/// What a tag says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Said {
    number: u16,
    begins: bool,
}

impl Said {
    const fn of(tag: u32) -> Option<Said> {
        let begins = match tag & 0xff {
            0xaa => true,
            0xbb => false,
            _ => return None,
        };
        if tag >> 24 == 0xaa { Some(Said { number: (tag >> 8) as u16, begins }) } else { None }
    }
}

/// Whether a tag may be one that marks, or one of any message: no other one is negative. One comparison, for
/// hooks.
#[inline(always)]
pub fn may_be(tag: usize) -> bool {
    (tag as i32) < 0
}

/// A message is sent; true if it marks, and was answered.
#[cold]
#[inline(never)]
pub fn send(message: &Message, state: State) -> bool {
    let Some((library, said, _)) = to_itself(message) else { return false };
    let is_second =
        half_sent(message.tag as u32, message.buffer, library.bytes(message.count, message.datatype));
    called(said, is_second, state);
    true
}

/// The half of a message that is sent; whether it is the second one.
fn half_sent(tag: u32, buffer: usize, bytes: u64) -> bool {
    let mut room = [0; 8];
    let content = usize::try_from(bytes).ok().and_then(|bytes| room.get_mut(..bytes));
    let content = content.and_then(|content| {
        let got = raw::read_memory(raw::getpid(), buffer as u64, content);
        (got == content.len() as isize).then_some(content)
    });
    lane::current().is_some_and(|lane| {
        lane.mpi.half.keep(content.as_deref());
        lane.mpi.half.call(tag, Side::Sent)
    })
}

/// The half of a message that is received into room for so many bytes; whether it is the second one, and how
/// many bytes it has.
fn half_received(tag: u32, buffer: usize, room_bytes: u64) -> (bool, u64) {
    let Some(lane) = lane::current() else { return (false, room_bytes) };
    let is_second = lane.mpi.half.call(tag, Side::Received);
    let (content, kept) = lane.mpi.half.kept();
    if !is_second || kept == 0 || kept as u64 > room_bytes {
        return (is_second, room_bytes);
    }
    deliver(buffer, &content, kept);
    (true, kept as u64)
}

/// Requests that the program has prepared to mark by: each is one of a message to nobody, which the library
/// completes at once. By handle: tag and side, buffer, bytes.
static PREPARED: Handles = Handles::new();
static ARE_PREPARED: AtomicBool = AtomicBool::new(false);

/// Half of a message is prepared, to be started again and again; true if it marks. Then `call` has made its
/// request, of a message to the given rank under the given tag.
#[cold]
#[inline(never)]
pub fn prepare(
    message: &Message,
    side: Side,
    request: usize,
    call: impl FnOnce(usize, usize) -> c_int,
) -> bool {
    let Some((library, ..)) = to_itself(message) else { return false };
    if call(library.abi.proc_null as u32 as usize, 0) != SUCCESS {
        return false;
    }
    // SAFETY: the call has written it.
    let handle = unsafe { library::written(library.abi, request) };
    let bytes = library.bytes(message.count, message.datatype);
    ARE_PREPARED.store(true, Ordering::Relaxed);
    PREPARED.take(handle);
    PREPARED.put(handle, [u64::from(message.tag as u32) | (side as u64) << 32, message.buffer as u64, bytes]);
    true
}

/// Whether there are requests to mark by.
#[inline]
pub fn are_prepared() -> bool {
    ARE_PREPARED.load(Ordering::Relaxed)
}

/// A request is started; true if it marks. The library completes it by itself.
#[cold]
#[inline(never)]
pub fn start(handle: usize, state: State) -> bool {
    let Some([word, buffer, bytes]) = PREPARED.get(handle) else { return false };
    let Some(said) = Said::of(word as u32) else { return false };
    let is_second = if word >> 32 == Side::Sent as u64 {
        half_sent(word as u32, buffer as usize, bytes)
    } else {
        half_received(word as u32, buffer as usize, bytes).0
    };
    called(said, is_second, state);
    true
}

/// A request is given up.
pub fn free(handle: usize) {
    if are_prepared() {
        PREPARED.take(handle);
    }
}

/// A message is received; true if it marks, and was answered. `status` is where its status goes, if anywhere.
#[cold]
#[inline(never)]
pub fn receive(message: &Message, status: Option<usize>, state: State) -> bool {
    let Some(library) = library::get() else { return false };
    // A receive of any tag gets the mark that was sent before.
    let is_any = message.tag as i32 == library.abi.any_tag;
    let sent = if is_any { lane::current().and_then(|lane| lane.mpi.half.sent_tag()) } else { None };
    let message = &Message { tag: sent.map_or(message.tag, |tag| tag as usize), ..*message };
    let Some((library, said, rank)) = to_itself(message) else { return false };
    let (is_second, bytes) =
        half_received(message.tag as u32, message.buffer, library.bytes(message.count, message.datatype));
    if let Some(status) = status.filter(|&status| status != library.abi.status_ignore) {
        answer(library, status, rank, message.tag as i32, bytes);
    }
    called(said, is_second, state);
    true
}

/// A message is sent and received in one call; true if it marks, and was answered.
#[cold]
#[inline(never)]
pub fn exchange(sent: &Message, received: &Message, status: usize, state: State) -> bool {
    // The same rank and tag, or any.
    let Some((library, said, rank)) = to_itself(sent) else { return false };
    let is_of = |word: usize, own: i32, any: i32| word as i32 == own || word as i32 == any;
    if !is_of(received.peer, rank as i32, library.abi.any_source)
        || !is_of(received.tag, sent.tag as i32, library.abi.any_tag)
    {
        return false;
    }
    let bytes = library.bytes(sent.count, sent.datatype);
    let mut content = [0; 8];
    if bytes <= 8
        && bytes <= library.bytes(received.count, received.datatype)
        && sent.buffer != received.buffer
        && let Some(content) = content.get_mut(..bytes as usize)
        && raw::read_memory(raw::getpid(), sent.buffer as u64, content) == content.len() as isize
    {
        let mut whole = [0; 8];
        whole[..content.len()].copy_from_slice(content);
        deliver(received.buffer, &whole, bytes as usize);
    }
    if status != library.abi.status_ignore {
        answer(library, status, rank, sent.tag as i32, bytes);
    }
    if let Some(lane) = lane::current() {
        lane.mpi.half.take();
    }
    // The second half of one that begins, the first half of one that ends.
    called(said, said.begins, state);
    true
}

/// A request that is complete: waiting for it ends at once.
pub fn complete(place: usize) {
    let Some(library) = library::get() else { return };
    // SAFETY: the program has passed a place for a handle.
    unsafe {
        if library.abi.handle_bytes == 4 {
            (place as *mut u32).write_unaligned(library.request_null as u32);
        } else {
            (place as *mut usize).write_unaligned(library.request_null);
        }
    }
}

/// What a message says that the calling rank has with itself, and which rank that is.
fn to_itself(message: &Message) -> Option<(&'static Library, Said, u32)> {
    let said = Said::of(message.tag as u32)?;
    let library = library::get()?;
    let rank = library.rank(message.communicator)?;
    let is_own = message.peer as i32 == rank as i32 || message.peer as i32 == library.abi.any_source;
    (is_own && library.remote_size(message.communicator) == 0).then_some((library, said, rank))
}

fn called(said: Said, is_second: bool, state: State) {
    if said.begins != is_second {
        return;
    }
    let mark = mark_of(NAME, said.number.into(), state);
    if said.begins { mark::begin(&mark) } else { mark::end(&mark) }
}

fn mark_of(name: &[u8], number: i64, state: State) -> Mark<'_> {
    Mark {
        domain: &[],
        name,
        number,
        file: &[],
        line: 0,
        kind: IntervalKind::Plain,
        degree: 0,
        origin: IntervalOrigin::Mpi,
        key: Key::NAMED,
        state,
    }
}

/// Copies what was sent to where it is received.
fn deliver(buffer: usize, content: &[u8; 8], bytes: usize) {
    for (at, byte) in content.iter().take(bytes).enumerate() {
        // SAFETY: the program receives so many bytes there; where it cannot be written, nothing is.
        unsafe { readable::write((buffer + at) as *mut u8, byte) };
    }
}

fn answer(library: &Library, status: usize, rank: u32, tag: i32, bytes: u64) {
    let layout = &library.abi.status;
    let field = |offset: usize, value: i32| {
        // SAFETY: the program has passed a status of this layout.
        unsafe { ((status + offset) as *mut i32).write_unaligned(value) };
    };
    field(layout.source, rank as i32);
    field(layout.tag, tag);
    match layout.count {
        // SAFETY: as above.
        Count::Word(offset) => unsafe { ((status + offset) as *mut u64).write_unaligned(bytes) },
        Count::LowAndHigh(low, high) => {
            field(low, bytes as u32 as i32);
            field(high, 0);
        }
        Count::Asked => {}
    }
}

/// `MPI_Pcontrol`. The standard defines the levels 0 to 2: nothing is recorded, the normal amount is, and
/// what is recorded is flushed. From 3 on a level begins an interval, and from -3 down one ends.
pub fn control(level: i32, name: usize, number: i32, state: State) {
    match level {
        0 => requests::pause(),
        1 => requests::resume(),
        2 => requests::sample(&[]),
        // Other tools name regions by these two.
        -2 | -1 => {}
        _ => {
            let name = name as *const c_char;
            if !readable::is_string(name) {
                return;
            }
            // SAFETY: it can be read up to its end.
            let name = unsafe { text::of(name) };
            let number = if number == i32::MIN { NO_NUMBER } else { number.into() };
            let mark = mark_of(name, number, state);
            if level > 0 { mark::begin(&mark) } else { mark::end(&mark) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_that_mark_are_known() {
        let said = |number, begins| Some(Said { number, begins });
        // Interval 1, as the protocol's description prints it.
        assert_eq!(Said::of(-1_442_840_150_i32 as u32), said(1, true));
        assert_eq!(Said::of(-1_442_840_133_i32 as u32), said(1, false));
        assert_eq!(Said::of(0xaaff_ffaa), said(0xffff, true));
        for tag in [0xaa00_01ab, 0xaa00_01ba, 0xab00_01aa, 0x2a00_01aa, u32::MAX, 0, 0xaa] {
            assert_eq!(Said::of(tag), None, "{tag:x}");
        }
        for tag in [0xaa00_00aa_u32, 0xaaff_ffbb, -1_i32 as u32, -2_i32 as u32] {
            assert!(may_be(tag as usize), "{tag:x}");
        }
        assert!(!may_be(0) && !may_be(i32::MAX as usize) && !may_be(0xffff_ffff_0000_0001));
    }
}
