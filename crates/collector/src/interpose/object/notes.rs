//! The notes of a loaded object.

use super::Object;

const PT_NOTE: u32 = 4;

/// A note.
#[derive(Clone, Copy, Debug)]
pub struct Note<'o> {
    /// Whose it is, with the final zero.
    pub name: &'o [u8],
    /// What its owner calls its kind.
    pub kind: u32,
    /// The content, where it lies in memory.
    pub content: &'o [u8],
}

impl Object {
    /// Calls `visit` with each of the object's notes. While nothing is unloaded.
    pub fn each_note(&self, visit: &mut dyn FnMut(Note<'_>)) {
        for header in self.headers.iter().filter(|header| header.kind == PT_NOTE) {
            let start = self.base.wrapping_add(header.address);
            let end = start.saturating_add(header.memory_bytes);
            if start >= end || !self.is_readable(start, end) {
                continue;
            }
            // SAFETY: it lies in a loaded segment that may be read.
            let bytes = unsafe { crate::path::elf::memory(start..end) };
            each_in(bytes, header.alignment as usize, visit);
        }
    }
}

/// Notes follow each other, each part of one padded to the segment's alignment, which is 4 or 8.
fn each_in<'o>(mut bytes: &'o [u8], alignment: usize, visit: &mut dyn FnMut(Note<'o>)) {
    let alignment = if alignment == 8 { 8 } else { 4 };
    while let Some((head, rest)) = bytes.split_first_chunk::<12>() {
        let word = |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (name_bytes, content_bytes) = (word(0) as usize, word(4) as usize);
        // The head is part of what is padded.
        let Some(content_at) = name_bytes.checked_add(12).map(|end| end.next_multiple_of(alignment) - 12)
        else {
            return;
        };
        let Some(name) = rest.get(..name_bytes) else { return };
        let Some(content) = rest.get(content_at..).and_then(|rest| rest.get(..content_bytes)) else { return };
        visit(Note { name, kind: word(8), content });
        let next = (content_at + content_bytes).saturating_add(12).next_multiple_of(alignment) - 12;
        bytes = rest.get(next..).unwrap_or(&[]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(name: &[u8], kind: u32, content: &[u8], alignment: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [name.len() as u32, content.len() as u32, kind] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend(name);
        bytes.resize(bytes.len().next_multiple_of(alignment), 0);
        bytes.extend(content);
        bytes.resize(bytes.len().next_multiple_of(alignment), 0);
        bytes
    }

    #[test]
    fn notes_are_found_one_behind_the_other_and_damage_ends_the_search() {
        for alignment in [4, 8] {
            let mut bytes = note(b"GNU\0", 3, b"12345", alignment);
            bytes.extend(note(b"Proust\0", 9, b"12345678", alignment));
            bytes.extend(note(b"", 1, b"", alignment));
            let mut seen = Vec::new();
            each_in(&bytes, alignment, &mut |note| seen.push((note.name, note.kind, note.content)));
            assert_eq!(
                seen,
                [(&b"GNU\0"[..], 3, &b"12345"[..]), (b"Proust\0", 9, b"12345678"), (b"", 1, b"")],
                "{alignment}"
            );
            for length in 0..bytes.len() {
                each_in(&bytes[..length], alignment, &mut |_| ());
            }
            bytes[0..8].fill(0xff);
            each_in(&bytes, alignment, &mut |_| panic!("its lengths are damaged"));
        }
    }
}
