//! A code object as the log has it: [`proust_log::code`] says how.

use proust_log::code::{self, MOST_BYTES};

use super::codes::Object;
use super::layout::{BYTES, LENGTH, Layout, STATE};
use super::memory::read;

/// Longer names and files are cut.
const MOST_NAME_CHARACTERS: u64 = 400;
const MOST_FILE_CHARACTERS: u64 = 2000;
/// Characters that are read at once.
const PIECE_BYTES: usize = 256;

/// Room for one of them.
pub struct Text {
    bytes: [u8; MOST_BYTES],
    used: usize,
}

/// How a string's characters are kept.
struct Characters {
    at: u64,
    count: u64,
    /// Of each: 1, 2 or 4.
    bytes: usize,
}

impl Text {
    /// What the log has of an object; None if it is not as it should be.
    pub fn describe(&mut self, layout: &Layout, object: &Object, process: u32) -> Option<&[u8]> {
        self.used = code::HEAD_BYTES;
        self.string(layout, object.name, MOST_NAME_CHARACTERS, process)?;
        let name_bytes = self.used - code::HEAD_BYTES;
        self.string(layout, object.file, MOST_FILE_CHARACTERS, process)?;
        let file_bytes = self.used - name_bytes - code::HEAD_BYTES;
        self.lines(object.lines, process)?;
        let head = code::Head {
            minor_version: layout.minor.into(),
            name_bytes: name_bytes.try_into().ok()?,
            file_bytes: file_bytes.try_into().ok()?,
            first_line: object.first_line,
        };
        self.bytes.get_mut(..code::HEAD_BYTES)?.copy_from_slice(&head.to_bytes());
        self.bytes.get(..self.used)
    }

    /// Appends a string of the interpreter's as UTF-8.
    fn string(&mut self, layout: &Layout, object: u64, most: u64, process: u32) -> Option<()> {
        let characters = Characters::of(layout, object, process)?;
        let count = characters.count.min(most) as usize;
        let mut piece = [0_u8; PIECE_BYTES];
        let mut done = 0;
        while done < count {
            let now = (count - done).min(PIECE_BYTES / characters.bytes);
            let into = piece.get_mut(..now * characters.bytes)?;
            read(process, characters.at + (done * characters.bytes) as u64, into).then_some(())?;
            for character in into.chunks_exact(characters.bytes) {
                let mut number = [0_u8; 4];
                number.get_mut(..characters.bytes)?.copy_from_slice(character);
                let character =
                    char::from_u32(u32::from_le_bytes(number)).unwrap_or(char::REPLACEMENT_CHARACTER);
                let mut encoded = [0_u8; 4];
                self.push(character.encode_utf8(&mut encoded).as_bytes())?;
            }
            done += now;
        }
        Some(())
    }

    /// Appends the table of lines, as much of it as there is room for.
    fn lines(&mut self, object: u64, process: u32) -> Option<()> {
        let bytes = word(process, object.checked_add(LENGTH)?)?;
        let room = self.bytes.get_mut(self.used..)?;
        let bytes = usize::try_from(bytes).ok()?.min(room.len());
        read(process, object.checked_add(BYTES)?, room.get_mut(..bytes)?).then_some(())?;
        self.used += bytes;
        Some(())
    }

    fn push(&mut self, bytes: &[u8]) -> Option<()> {
        self.bytes.get_mut(self.used..self.used + bytes.len())?.copy_from_slice(bytes);
        self.used += bytes.len();
        Some(())
    }
}

impl Characters {
    fn of(layout: &Layout, object: u64, process: u32) -> Option<Characters> {
        let count = word(process, object.checked_add(LENGTH)?)?;
        let state = word(process, object.checked_add(STATE)?)? as u32;
        let (kind, is_compact, is_ascii) = (state >> 2 & 7, state >> 5 & 1 == 1, state >> 6 & 1 == 1);
        let is_known = matches!(kind, 1 | 2 | 4) && is_compact;
        let at = object.checked_add(if is_ascii { layout.ascii } else { layout.other })?;
        is_known.then_some(Characters { at, count, bytes: kind as usize })
    }
}

fn word(process: u32, address: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    read(process, address, &mut bytes).then_some(u64::from_ne_bytes(bytes))
}
