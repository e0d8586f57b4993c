//! Reads of an interpreter's memory that cannot fault: by pages, since a system call takes as long for a page
//! as for a word.

use crate::raw;

const PAGE_BYTES: usize = 4096;
const PAGES: usize = 4;

/// The pages read last. What was read for one path must be forgotten before the next one.
pub struct Pages {
    /// Address of each, and 1; 0: none.
    tags: [u64; PAGES],
    /// The one that is replaced next.
    oldest: usize,
    bytes: [[u8; PAGE_BYTES]; PAGES],
}

impl Pages {
    /// Forgets all.
    pub fn forget(&mut self) {
        self.tags = [0; PAGES];
    }

    /// The word at an address that is a multiple of 8; None if it is none, or cannot be read.
    pub fn word(&mut self, process: u32, address: u64) -> Option<u64> {
        if !address.is_multiple_of(8) {
            return None;
        }
        let at = (address % PAGE_BYTES as u64) as usize;
        let page = self.page(process, address - at as u64)?;
        Some(u64::from_ne_bytes(page.get(at..at + 8)?.try_into().ok()?))
    }

    /// The 32 bits at an address that is a multiple of 4.
    pub fn half(&mut self, process: u32, address: u64) -> Option<u32> {
        let word = self.word(process, address & !7)?.to_ne_bytes();
        let at = (address & 7) as usize;
        Some(u32::from_ne_bytes(word.get(at..at + 4)?.try_into().ok()?))
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
