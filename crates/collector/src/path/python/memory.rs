//! Reads of an interpreter's memory that cannot fault.
//!
//! What a path needed is remembered, word by word, and for the next path all of it is read by one system
//! call. If every word is what it was, so is everything that was found by them. If not, most of the words
//! that are needed now have been read by that call; others are read by pages, since a system call takes as
//! long for a page as for a word.
//!
//! After a computation that has used up the caches a system call takes 5 µs and more, which is too much for
//! each call of MPI. There the thread is *at rest*: it is inside a function that the interpreter called, and
//! the interpreter's lists are whole. Then words that a system call has read before are read directly, each
//! only after the pointer that leads to it has been read: what a list leads to is alive.

use crate::path::stack::StackReader;
use crate::raw;

const PAGE_BYTES: usize = 4096;
const PAGES: usize = 4;

/// Paths that need more words are read from scratch each time.
const MOST_WORDS: usize = 1024;
const MOST_PIECES: usize = 64;
const MOST_BYTES: usize = 16 << 10;
/// Words that are as near to each other are read as one piece.
const NEAR_BYTES: u64 = 256;
/// The place of a word of the thread's own stack, which is read directly.
const DIRECT: u32 = u32::MAX;

/// A word that was read.
#[derive(Clone, Copy)]
struct Word {
    address: u64,
    value: u64,
    /// Where it stands among the bytes, or [`DIRECT`].
    place: u32,
}

/// What is read of an interpreter. All zeros is a valid value: nothing has been read.
pub struct Memory {
    pages: Pages,
    words: [Word; MOST_WORDS],
    word_count: usize,
    /// Whether there were more words than can be remembered.
    is_cut: bool,
    /// Whether the words are all that the last path needed.
    is_whole: bool,
    pieces: [libc::iovec; MOST_PIECES],
    piece_count: usize,
    /// The pieces as they were read for the path in work, one behind the other.
    bytes: [u8; MOST_BYTES],
    byte_count: usize,
    /// Whether they could be read.
    is_read: bool,
    /// Whether the thread is at rest during the path in work.
    at_rest: bool,
}

// SAFETY: numbers, pointers that are only compared and given to the kernel, and arrays of them, of which all
// zeros is a value.
unsafe impl crate::arena::Zeroed for Memory {}

impl Memory {
    /// Reads what the last path needed; whether all of it is known and is what it was.
    pub fn is_as_it_was(&mut self, process: u32, stack: &StackReader) -> bool {
        self.is_read = false;
        if self.byte_count > 0 && !self.read_pieces(process) {
            // Some of it is gone.
            (self.piece_count, self.byte_count) = (0, 0);
            return false;
        }
        let holds = |word: &Word| match word.place {
            DIRECT => stack.direct_word(word.address) == Some(word.value),
            place => self.byte_word(place as usize) == Some(word.value),
        };
        self.is_whole && self.words.iter().take(self.word_count).all(holds)
    }

    /// As [`Memory::is_as_it_was`], of a thread at rest.
    ///
    /// # Safety
    /// The calling thread is inside a function that its interpreter called. What the first word is read from
    /// is alive.
    pub unsafe fn is_as_it_was_at_rest(&self, stack: &StackReader) -> bool {
        let holds = |word: &Word| match word.place {
            DIRECT => stack.direct_word(word.address) == Some(word.value),
            // SAFETY: a system call has read it before. The words are in the order in which they were read,
            // and those before this one are what they were: what led to it leads to it again, so that it is
            // part of an object that the interpreter holds.
            _ => unsafe { (word.address as *const u64).read_volatile() == word.value },
        };
        self.is_whole && self.words.iter().take(self.word_count).all(holds)
    }

    /// Whether [`Memory::finish`] has found that all words are known.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Another path begins, which is not the last one.
    ///
    /// # Safety
    /// If it is one `at_rest`, the calling thread is inside a function that its interpreter called. Words are
    /// asked for in the order in which one leads to the next.
    pub unsafe fn restart(&mut self, at_rest: bool) {
        (self.is_whole, self.is_cut, self.word_count) = (false, false, 0);
        self.at_rest = at_rest;
        self.pages.forget();
    }

    /// All that the path needs has been read.
    pub fn finish(&mut self) {
        let is_placed = !self.is_cut && (self.place_words() || self.arrange() && self.place_words());
        self.is_whole = is_placed && self.word_count > 0;
    }

    /// The word at an address; None if it cannot be read, or if the address is neither on the thread's stack
    /// nor a multiple of 8.
    pub fn word(&mut self, process: u32, stack: &StackReader, address: u64) -> Option<u64> {
        if let Some(value) = stack.direct_word(address) {
            self.note(Word { address, value, place: DIRECT });
            return Some(value);
        }
        let value = match self.read_before(address) {
            Some(value) => value,
            None => self.pages.word(process, address)?,
        };
        self.note(Word { address, value, place: 0 });
        Some(value)
    }

    /// A word of the last path, if it was read with what that needed.
    pub fn known_word(&mut self, address: u64) -> Option<u64> {
        let value = self.read_before(address)?;
        self.note(Word { address, value, place: 0 });
        Some(value)
    }

    /// Notes a word that was read in another way.
    pub fn needs(&mut self, address: u64, value: u64) {
        self.note(Word { address, value, place: 0 });
    }

    fn note(&mut self, word: Word) {
        match self.words.get_mut(self.word_count) {
            Some(place) => {
                *place = word;
                self.word_count += 1;
            }
            None => self.is_cut = true,
        }
    }

    fn read_pieces(&mut self, process: u32) -> bool {
        let (Some(bytes), Some(pieces)) =
            (self.bytes.get_mut(..self.byte_count), self.pieces.get(..self.piece_count))
        else {
            return false;
        };
        let here = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        // SAFETY: the bytes are ours.
        let read = unsafe { raw::read_pieces(process, &[here], pieces) };
        self.is_read = read == bytes.len() as raw::Outcome;
        self.is_read
    }

    fn read_before(&self, address: u64) -> Option<u64> {
        if !self.is_read && !self.at_rest {
            return None;
        }
        let place = self.place_of(address)? as usize;
        match self.at_rest {
            // SAFETY: a system call has read the piece before, and what leads to this word was read just now:
            // it is part of an object that the interpreter holds.
            true => Some(unsafe { (address as *const u64).read_volatile() }),
            false => self.byte_word(place),
        }
    }

    fn byte_word(&self, place: usize) -> Option<u64> {
        Some(u64::from_ne_bytes(self.bytes.get(place..place + 8)?.try_into().ok()?))
    }

    /// Where the word at an address stands among the bytes.
    fn place_of(&self, address: u64) -> Option<u32> {
        let mut before = 0;
        for piece in self.pieces.iter().take(self.piece_count) {
            let (begin, length) = (piece.iov_base as u64, piece.iov_len as u64);
            let distance = address.wrapping_sub(begin);
            if distance < length && distance.is_multiple_of(8) {
                return u32::try_from(before + distance).ok();
            }
            before += length;
        }
        None
    }

    /// Finds the place of each word; false if one is in no piece.
    fn place_words(&mut self) -> bool {
        for at in 0..self.word_count {
            let Some(word) = self.words.get(at).copied().filter(|word| word.place != DIRECT) else {
                continue;
            };
            let Some(place) = self.place_of(word.address) else { return false };
            if let Some(word) = self.words.get_mut(at) {
                word.place = place;
            }
        }
        true
    }

    /// Divides the words into pieces anew; false if there are too many.
    fn arrange(&mut self) -> bool {
        (self.piece_count, self.byte_count, self.is_read) = (0, 0, false);
        for word in self.words.iter().take(self.word_count).filter(|word| word.place != DIRECT) {
            let near = |piece: &&mut libc::iovec| {
                let begin = piece.iov_base as u64;
                let end = begin.wrapping_add(piece.iov_len as u64);
                begin.saturating_sub(NEAR_BYTES) <= word.address
                    && word.address <= end.saturating_add(NEAR_BYTES)
            };
            if let Some(piece) = self.pieces.iter_mut().take(self.piece_count).find(near) {
                let begin = (piece.iov_base as u64).min(word.address);
                let end = (piece.iov_base as u64 + piece.iov_len as u64).max(word.address + 8);
                *piece = piece_of(begin, end);
            } else if let Some(piece) = self.pieces.get_mut(self.piece_count) {
                *piece = piece_of(word.address, word.address.saturating_add(8));
                self.piece_count += 1;
            } else {
                self.piece_count = 0;
                return false;
            }
        }
        let bytes = self.pieces.iter().take(self.piece_count).map(|piece| piece.iov_len).sum();
        if bytes > MOST_BYTES {
            self.piece_count = 0;
            return false;
        }
        self.byte_count = bytes;
        true
    }
}

fn piece_of(begin: u64, end: u64) -> libc::iovec {
    libc::iovec { iov_base: begin as *mut core::ffi::c_void, iov_len: end.saturating_sub(begin) as usize }
}

/// The pages read last. What was read for one path must be forgotten before the next one.
struct Pages {
    /// Address of each, and 1; 0: none.
    tags: [u64; PAGES],
    /// The one that is replaced next.
    oldest: usize,
    bytes: [[u8; PAGE_BYTES]; PAGES],
}

impl Pages {
    /// Forgets all.
    fn forget(&mut self) {
        self.tags = [0; PAGES];
    }

    /// The word at an address that is a multiple of 8; None if it is none, or cannot be read.
    fn word(&mut self, process: u32, address: u64) -> Option<u64> {
        if !address.is_multiple_of(8) {
            return None;
        }
        let at = (address % PAGE_BYTES as u64) as usize;
        let page = self.page(process, address - at as u64)?;
        Some(u64::from_ne_bytes(page.get(at..at + 8)?.try_into().ok()?))
    }

    fn page(&mut self, process: u32, address: u64) -> Option<&[u8; PAGE_BYTES]> {
        if let Some(known) = self.tags.iter().position(|&tag| tag == address | 1) {
            return self.bytes.get(known);
        }
        let place = self.oldest % PAGES;
        *self.tags.get_mut(place)? = 0;
        let bytes = self.bytes.get_mut(place)?;
        if raw::read_memory(process, address, bytes) != PAGE_BYTES as raw::Outcome {
            return None;
        }
        *self.tags.get_mut(place)? = address | 1;
        self.oldest = place + 1;
        self.bytes.get(place)
    }
}

/// Reads `into` from an address; whether all of it could be read.
pub fn read(process: u32, address: u64, into: &mut [u8]) -> bool {
    raw::read_memory(process, address, into) == into.len() as raw::Outcome
}
