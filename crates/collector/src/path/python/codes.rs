//! The code objects of a lane's functions: each gets a number, and is written once.
//!
//! An object may be freed and its memory used for another one, so that its address says little: it is known
//! by what it points to, which is read again for each path.

use super::frames::Function;
use super::interpreter;
use super::layout::{Layout, TYPE};
use super::memory::Memory;
use super::text::Text;
use crate::arena::{Entry, Table, spread};
use crate::path::Announce;
use crate::raw;

/// Enough of a code object for each layout.
const PIECE_BYTES: usize = 144;
/// Read by one system call.
const PIECES: usize = 16;
const FIRST_SLOTS: usize = 64;
/// More than that are not written in one lane: a program that makes code without end.
const MOST_CODES: u32 = 1 << 20;

/// A code object that was written.
#[derive(Clone, Copy)]
struct Code {
    address: u64,
    /// Of what it points to.
    print: u64,
    number: u32,
}

// SAFETY: numbers; an address is never zero.
unsafe impl Entry for Code {
    fn is_free(&self) -> bool {
        self.address == 0
    }
}

/// Those of a lane.
#[derive(Default)]
pub struct Codes {
    table: Table<Code>,
    count: u32,
}

/// Room to read into.
pub struct Facts {
    pieces: [[u8; PIECE_BYTES]; PIECES],
    text: Text,
}

// SAFETY: arrays of numbers, of which all zeros is a value.
unsafe impl crate::arena::Zeroed for Facts {}

impl Codes {
    /// Gives each function the number of its code; `announce` gets new ones. What is read of them is added to
    /// what the path needs of `memory`.
    pub fn number(
        &mut self,
        layout: &Layout,
        functions: &mut [Function],
        (facts, memory): (&mut Facts, &mut Memory),
        (process, announce): (u32, &mut dyn Announce),
    ) {
        let mut at = 0;
        while let Some(function) = functions.get_mut(at) {
            if let Some(object) = Object::of(layout, |place| memory.known_word(function.code + place)) {
                let found = (function.code, object);
                function.number = self.known_or_new(layout, found, facts, (process, &mut *announce));
                at += 1;
                continue;
            }
            let batch = functions.get_mut(at..).unwrap_or_default();
            let batch = match batch.len() {
                0..=PIECES => batch,
                _ => batch.get_mut(..PIECES).unwrap_or_default(),
            };
            let read = facts.read(process, batch);
            for (piece, function) in batch.iter_mut().take(read).enumerate() {
                let object = Object::of(layout, |place| {
                    let word = facts.word(piece, place)?;
                    memory.needs(function.code + place, word);
                    Some(word)
                });
                let Some(object) = object else { continue };
                let found = (function.code, object);
                function.number = self.known_or_new(layout, found, facts, (process, &mut *announce));
            }
            // What could not be read keeps its 0; what follows it is tried.
            at += read.max(1);
        }
    }

    fn known_or_new(
        &mut self,
        layout: &Layout,
        (address, object): (u64, Object),
        facts: &mut Facts,
        (process, announce): (u32, &mut dyn Announce),
    ) -> u32 {
        let print = object.print();
        if self.table.is_full() && !self.table.grow(FIRST_SLOTS, |code| spread(code.address >> 4)) {
            return 0;
        }
        let Some(at) = self.table.position(spread(address >> 4), |code| code.address == address) else {
            return 0;
        };
        let known = self.table.at(at).map_or(0, |code| if code.print == print { code.number } else { 0 });
        if known != 0 || self.count >= MOST_CODES {
            return known;
        }
        let Some(written) = facts.text.describe(layout, &object, process) else { return 0 };
        let new = Code { address, print, number: self.count + 1 };
        announce.code(new.number, written);
        self.count = new.number;
        match self.table.at(at) {
            Some(code) if code.address == address => *code = new,
            _ => self.table.put(at, new),
        }
        new.number
    }
}

/// What a code object points to.
pub struct Object {
    /// Its name.
    pub name: u64,
    /// Its file.
    pub file: u64,
    /// Its table of lines.
    pub lines: u64,
    /// Its first line.
    pub first_line: u32,
}

impl Object {
    /// The object whose words `word` reads, by their distance from its begin; None if that is no code, or not
    /// all of it could be read.
    fn of(layout: &Layout, mut word: impl FnMut(u64) -> Option<u64>) -> Option<Object> {
        (word(TYPE)? == interpreter::code_type()).then_some(())?;
        let (name, file, lines) = (word(layout.name)?, word(layout.file)?, word(layout.lines)?);
        let halves = word(layout.first_line & !7)?.to_ne_bytes();
        let at = (layout.first_line & 7) as usize;
        let first_line = u32::from_ne_bytes(halves.get(at..at + 4)?.try_into().ok()?);
        Some(Object { name, file, lines, first_line })
    }

    fn print(&self) -> u64 {
        let words = [self.name, self.file, self.lines, u64::from(self.first_line)];
        words.iter().fold(0, |print: u64, &word| spread(print.rotate_left(23) ^ word))
    }
}

impl Facts {
    /// Reads the objects of up to [`PIECES`] functions; how many of them, from the first one on.
    fn read(&mut self, process: u32, functions: &[Function]) -> usize {
        let none = libc::iovec { iov_base: core::ptr::null_mut(), iov_len: PIECE_BYTES };
        let (mut here, mut there) = ([none; PIECES], [none; PIECES]);
        let places = here.iter_mut().zip(&mut there).zip(&mut self.pieces);
        for (((here, there), piece), function) in places.zip(functions) {
            here.iov_base = piece.as_mut_ptr().cast();
            there.iov_base = function.code as *mut core::ffi::c_void;
        }
        let count = functions.len().min(PIECES);
        // SAFETY: each of the first places leads to a piece of ours of its length.
        let bytes = unsafe { raw::read_pieces(process, &here[..count], &there[..count]) };
        usize::try_from(bytes).unwrap_or(0) / PIECE_BYTES
    }

    /// A word of the object that was read into a place.
    fn word(&self, place: usize, at: u64) -> Option<u64> {
        let bytes = self.pieces.get(place)?.get(at as usize..at as usize + 8)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    }
}
