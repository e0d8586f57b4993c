//! How a program gets the functions behind its marks.
//!
//! The header gives each program and library with marks a word, and a note that says where the word is
//! ([`Object::each_note`]). The dynamic linker fills in a library's word, by a weak reference to our table. A
//! program's it does not: the linker has settled the reference already. So the word is found by the note, in
//! whatever is loaded.

use super::table::FUNCTIONS;
use crate::interpose::object::Object;
use crate::interpose::words;

const NAME: &[u8] = b"Proust\0";
/// `PRO1`.
const KIND: u32 = 0x5052_4f31;

/// Gives the object's word the functions, if it has one.
pub fn to(object: &Object) {
    object.each_note(&mut |note| {
        if note.kind != KIND || note.name != NAME {
            return;
        }
        let Some(&distance) = note.content.first_chunk::<8>() else { return };
        let at = note.content.as_ptr() as u64;
        let word = at.wrapping_add_signed(i64::from_ne_bytes(distance));
        let functions = (&raw const FUNCTIONS) as u64;
        // Some other program's note may have our name: nothing but a word of its own is written.
        if object.stays_writable(word) && word.is_multiple_of(8) {
            words::write(object, word, functions);
        }
    });
}
