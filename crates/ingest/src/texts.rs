//! The texts of a lane, put together from their parts.

use proust_log::records::Subject;
use rustc_hash::FxHashMap;

/// One text.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) subject: Subject,
    /// The number that the subject needs: argument number, module number, thread id.
    pub(super) id: u32,
    /// Time of the newest timed record before it.
    pub(super) after_ns: u64,
    bytes: Vec<u8>,
    next_part: u16,
}

impl Text {
    /// The text; bytes that are not UTF-8 are replaced.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// The text as it was recorded.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Texts in the order in which they were begun.
#[derive(Debug, Default)]
pub(super) struct Texts {
    all: Vec<Text>,
    newest: FxHashMap<(Subject, u32), usize>,
}

impl Texts {
    pub(super) fn add(&mut self, subject: Subject, part: u16, id: u32, after_ns: u64, bytes: &[u8]) {
        let newest = self.newest.get(&(subject, id)).and_then(|&index| self.all.get_mut(index));
        if part > 0 {
            // A part after a lost one would make another text of it: an existing text stays as it is.
            if let Some(text) = newest.filter(|text| text.next_part == part) {
                text.bytes.extend_from_slice(bytes);
                text.next_part = part.wrapping_add(1);
            }
            return;
        }
        let new = Text { subject, id, after_ns, bytes: bytes.to_vec(), next_part: 1 };
        match newest {
            // A thread can be renamed any number of times, and only the latest name counts.
            Some(text) if subject == Subject::ThreadName => *text = new,
            _ => {
                self.newest.insert((subject, id), self.all.len());
                self.all.push(new);
            }
        }
    }

    pub(super) fn of(&self, subject: Subject) -> impl Iterator<Item = &Text> {
        self.all.iter().filter(move |text| text.subject == subject)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_joined_and_a_lost_part_ends_the_text() {
        let mut texts = Texts::default();
        texts.add(Subject::Argument, 0, 3, 0, b"ab");
        texts.add(Subject::Argument, 0, 4, 0, b"x");
        texts.add(Subject::Argument, 1, 3, 0, b"cd");
        texts.add(Subject::Argument, 3, 3, 0, b"gh");
        texts.add(Subject::Argument, 1, 9, 0, b"part without a begin");
        texts.add(Subject::Variable, 0, 0, 0, b"A=1");
        texts.add(Subject::Variable, 0, 0, 0, b"B=\xff");
        texts.add(Subject::ThreadName, 0, 7, 5, b"old");
        texts.add(Subject::ThreadName, 0, 7, 9, b"new");
        let of = |subject| texts.of(subject).map(|t| (t.id, t.after_ns, t.text())).collect::<Vec<_>>();
        assert_eq!(of(Subject::Argument), [(3, 0, "abcd".into()), (4, 0, "x".into())]);
        assert_eq!(of(Subject::Variable), [(0, 0, "A=1".into()), (0, 0, "B=\u{fffd}".into())]);
        assert_eq!(of(Subject::ThreadName), [(7, 9, "new".into())]);
    }
}
