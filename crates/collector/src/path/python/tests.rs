//! The reading of frames and code objects, of memory that is laid out as each version does it.

use super::codes::{Codes, Facts};
use super::frames::{Found, Function};
use super::interpreter;
use super::layout::{BYTES, Chain, Instruction, LENGTH, Last, Layout, STATE, TYPE};
use super::memory::Memory as Reads;
use crate::arena::Lazily;
use crate::path::Announce;
use crate::path::module::Module;
use crate::path::stack::{OwnStack, StackReader, WideWindow};
use crate::path::tree::{Frame, NodeId};
use proust_log::code::Code;

const MINOR_VERSIONS: [u8; 8] = [8, 9, 10, 11, 12, 13, 14, 15];
const WORDS: usize = 64;

/// Objects of an interpreter, which stay where they are.
#[derive(Default)]
#[expect(clippy::vec_box, reason = "addresses stay when there are more of them")]
struct Memory(Vec<Box<[u64; WORDS]>>);

impl Memory {
    fn object(&mut self) -> u64 {
        self.0.push(Box::new([0; WORDS]));
        self.0.last().map_or(0, |object| object.as_ptr() as u64)
    }

    fn put(&mut self, object: u64, at: u64, bytes: &[u8]) {
        let own = self.0.iter_mut().find(|own| own.as_ptr() as u64 == object).unwrap();
        for (place, &byte) in bytes.iter().enumerate() {
            let at = at as usize + place;
            let mut word = own[at / 8].to_ne_bytes();
            word[at % 8] = byte;
            own[at / 8] = u64::from_ne_bytes(word);
        }
    }

    fn word(&mut self, object: u64, at: u64, value: u64) {
        self.put(object, at, &value.to_ne_bytes());
    }

    /// A string, whose characters have so many bytes.
    fn string(&mut self, layout: &Layout, text: &str, bytes: usize, is_ascii: bool) -> u64 {
        let object = self.object();
        self.word(object, LENGTH, text.chars().count() as u64);
        self.word(object, STATE, (bytes as u64) << 2 | 1 << 5 | u64::from(is_ascii) << 6);
        let begin = if is_ascii { layout.ascii } else { layout.other };
        for (place, character) in text.chars().enumerate() {
            let encoded = u32::from(character).to_le_bytes();
            self.put(object, begin + (place * bytes) as u64, &encoded[..bytes]);
        }
        object
    }

    fn code(&mut self, layout: &Layout, name: u64, file: u64, first_line: u32) -> u64 {
        let (code, lines) = (self.object(), self.object());
        self.word(lines, LENGTH, 3);
        self.put(lines, BYTES, &[7, 8, 9]);
        self.word(code, TYPE, interpreter::code_type());
        self.word(code, layout.name, name);
        self.word(code, layout.file, file);
        self.word(code, layout.lines, lines);
        self.put(code, layout.first_line, &first_line.to_ne_bytes());
        code
    }

    /// A frame that executes the byte `at` of `code`, below `previous`.
    fn frame(&mut self, layout: &Layout, code: u64, at: u32, previous: u64) -> u64 {
        let frame = self.object();
        // From 3.14 on a reference says how it is counted.
        self.word(frame, layout.code, if layout.minor >= 14 { code | 1 } else { code });
        self.word(frame, layout.previous, previous);
        match layout.instruction {
            Instruction::Number { at: place, unit } => self.put(frame, place, &(at / unit).to_ne_bytes()),
            Instruction::Pointer { at: place, begin } => {
                self.word(frame, place, code + begin + u64::from(at));
            }
        }
        frame
    }
}

/// A thread that evaluates these functions, outermost first; each inner list is one evaluation's. Returns the
/// address of its state, and the markers, innermost first.
fn thread(memory: &mut Memory, layout: &Layout, evaluations: &[&[(u64, u32)]]) -> (u64, Vec<u64>) {
    let thread = memory.object();
    let mut previous = 0;
    // The one that lies in the thread's state, and marks no evaluation. What lies above it is not set.
    let root = match layout.chain {
        Chain::FramesAndMarkers { root, .. } | Chain::MarkersWithFrames { root, .. } => root,
        _ => 0,
    };
    memory.put(thread, root, &[0xa5; 24]);
    let root = thread + root;
    let mut markers = Vec::new();
    for evaluation in evaluations {
        let above = markers.last().copied().unwrap_or(root);
        let marker = memory.object();
        match layout.chain {
            Chain::FramesWithMarkers { last: Last::Behind(offset, value), .. }
            | Chain::MarkersWithFrames { last: Last::Behind(offset, value), .. } => {
                // A frame on the native stack separates the evaluations.
                let separator = memory.object();
                memory.word(separator, layout.previous, previous);
                memory.put(separator, offset, &[value]);
                previous = separator;
            }
            _ => {}
        }
        for (place, &(code, at)) in evaluation.iter().enumerate() {
            previous = memory.frame(layout, code, at, previous);
            if let Chain::MarkersWithFrames { last: Last::NotZero(offset), .. } = layout.chain
                && place == 0
            {
                memory.put(previous, offset, &[1]);
            }
        }
        match layout.chain {
            Chain::FramesAndMarkers { above: offset, .. } => memory.word(marker, offset, above),
            Chain::MarkersWithFrames { frame, above: offset, .. } => {
                memory.word(marker, frame, previous);
                memory.word(marker, offset, above);
            }
            _ => {}
        }
        markers.push(marker);
    }
    let innermost_marker = markers.last().copied().unwrap_or(root);
    match layout.chain {
        Chain::Frames { innermost } | Chain::FramesWithMarkers { innermost, .. } => {
            memory.word(thread, innermost, previous);
        }
        Chain::FramesAndMarkers { innermost, marker, .. } => {
            memory.word(thread, innermost, previous);
            memory.word(thread, marker, innermost_marker);
        }
        Chain::MarkersWithFrames { marker, .. } => memory.word(thread, marker, innermost_marker),
    }
    markers.reverse();
    (thread, markers)
}

fn read(found: &mut Found, layout: &'static Layout, thread: u64) {
    let process = std::process::id();
    // Nothing lies on the native stack: all of it is read by system calls.
    let reader = StackReader::new(process, OwnStack::default(), 0, WideWindow::default());
    // SAFETY: not at rest.
    unsafe { found.look(layout, thread, false, (process, &reader)) };
}

fn functions(found: &mut Found) -> Vec<(u64, u32)> {
    found.all().iter().map(|function| (function.code, function.at)).collect()
}

#[test]
fn frames_are_read_innermost_first_and_by_evaluation() {
    for layout in MINOR_VERSIONS.map(|minor| Layout::of(minor).unwrap()) {
        let mut memory = Memory::default();
        let [a, b, c] = [0; 3].map(|_| memory.object());
        // Before 3.11 each function has an evaluation of its own.
        let inlines = layout.minor >= 11;
        let evaluations: &[&[(u64, u32)]] =
            if inlines { &[&[(a, 4)], &[(b, 6), (c, 8)]] } else { &[&[(a, 4)], &[(b, 6)], &[(c, 8)]] };
        let (thread, markers) = thread(&mut memory, layout, evaluations);
        let mut room = Lazily::<Found>::default();
        let found = room.get_or_make_zeroed().unwrap();
        read(found, layout, thread);
        assert_eq!(functions(found), [(c, 8), (b, 6), (a, 4)], "3.{}", layout.minor);
        assert!(!found.is_empty());
        if layout.has_markers() {
            let of = |group: u16| found.functions(group).iter().map(|function| function.code).collect();
            let groups: Vec<Vec<u64>> = (0..evaluations.len() as u16).map(of).collect();
            let expected = if inlines { vec![vec![c, b], vec![a]] } else { vec![vec![c], vec![b], vec![a]] };
            assert_eq!(groups, expected, "3.{}", layout.minor);
            if layout.minor < 13 {
                assert_eq!(found.marker(0), Some(markers[0]));
            }
        } else {
            assert!(found.is_as_many_as(3) && !found.is_as_many_as(2) && !found.is_as_many_as(4));
            assert_eq!(found.counted(0)[0].code, a);
            assert_eq!(found.counted(2)[0].code, c);
            assert!(found.counted(3).is_empty());
        }
    }
}

/// In the few instructions between the begin of an evaluation and its first frame.
#[test]
fn an_evaluation_that_has_just_begun_has_no_functions() {
    let mut room = Lazily::<Found>::default();
    for layout in [10, 11, 12].map(|minor| Layout::of(minor).unwrap()) {
        let mut memory = Memory::default();
        let code = memory.object();
        let (thread, markers) = thread(&mut memory, layout, &[&[(code, 2)]]);
        let begun = memory.object();
        match layout.chain {
            Chain::FramesAndMarkers { marker, above, .. } => {
                memory.word(begun, above, markers[0]);
                memory.word(thread, marker, begun);
            }
            Chain::MarkersWithFrames { marker, frame, above, .. } => {
                // What stood on the stack before.
                memory.word(begun, frame, 0x10);
                memory.word(begun, above, markers[0]);
                memory.word(thread, marker, begun);
            }
            _ => {}
        }
        let found = room.get_or_make_zeroed().unwrap();
        read(found, layout, thread);
        if layout.minor == 10 {
            // Which of them it is is not known there.
            assert!(found.is_empty());
            continue;
        }
        assert!(found.functions(0).is_empty(), "3.{}", layout.minor);
        assert_eq!(found.functions(1).iter().map(|one| one.code).collect::<Vec<_>>(), [code]);
    }
}

#[test]
fn memory_that_is_not_there_ends_the_list() {
    let mut room = Lazily::<Found>::default();
    for layout in MINOR_VERSIONS.map(|minor| Layout::of(minor).unwrap()) {
        let mut memory = Memory::default();
        let found = room.get_or_make_zeroed().unwrap();
        read(found, layout, 0x1000);
        assert!(found.is_empty());
        // A list that leads into itself.
        let (code, frame) = (memory.object(), memory.object());
        memory.word(frame, layout.code, code);
        memory.word(frame, layout.previous, frame);
        let thread = memory.object();
        if let Chain::Frames { innermost } | Chain::FramesWithMarkers { innermost, .. } = layout.chain {
            memory.word(thread, innermost, frame);
            read(found, layout, thread);
            let count = found.all().len();
            assert!(!found.is_as_many_as(count));
        }
    }
}

#[derive(Default)]
struct Announced(Vec<(u32, Vec<u8>)>);

impl Announce for Announced {
    fn module(&mut self, _: &Module) {}
    fn code(&mut self, number: u32, text: &[u8]) {
        self.0.push((number, text.to_vec()));
    }
    fn node(&mut self, _: NodeId, _: &Frame) {}
}

#[test]
fn code_is_written_once_and_known_by_what_it_points_to() {
    let process = std::process::id();
    for layout in MINOR_VERSIONS.map(|minor| Layout::of(minor).unwrap()) {
        let mut memory = Memory::default();
        let (mut codes, mut announced) = (Codes::default(), Announced::default());
        let mut room = Lazily::<Facts>::default();
        let facts = room.get_or_make_zeroed().unwrap();
        let mut reads = Lazily::<Reads>::default();
        let reads = reads.get_or_make_zeroed().unwrap();
        let file = memory.string(layout, "/home/me/Größe.py", 1, false);
        let name = memory.string(layout, "solve", 1, true);
        let wide = memory.string(layout, "λ.𝛼", 4, false);
        let first = memory.code(layout, name, file, 7);
        let second = memory.code(layout, wide, file, 70_000);
        let mut number = |announced: &mut Announced, objects: &[u64]| -> Vec<u32> {
            let mut functions: Vec<Function> =
                objects.iter().map(|&code| Function { code, at: 0, number: 0 }).collect();
            codes.number(layout, &mut functions, (facts, &mut *reads), (process, announced));
            functions.iter().map(|function| function.number).collect()
        };
        // Among them memory that cannot be read, and an object of another type.
        let other = memory.object();
        memory.word(other, TYPE, interpreter::code_type() + 8);
        let mut many = vec![first, 0x1000, second, other];
        many.extend(std::iter::repeat_n(first, 40));
        let numbers = number(&mut announced, &many);
        assert_eq!(numbers[..4], [1, 0, 2, 0], "3.{}", layout.minor);
        assert!(numbers[4..].iter().all(|&number| number == 1));
        let texts: Vec<_> = announced.0.iter().map(|(_, text)| Code::parse(text).unwrap()).collect();
        assert_eq!(texts.len(), 2);
        assert_eq!((texts[0].name, texts[0].first_line), (&b"solve"[..], 7));
        assert_eq!((texts[0].file, texts[0].lines), ("/home/me/Größe.py".as_bytes(), &[7, 8, 9][..]));
        assert_eq!((texts[1].name, texts[1].first_line), ("λ.𝛼".as_bytes(), 70_000));
        assert_eq!(texts[1].minor_version, u16::from(layout.minor));
        // Another object at the same address.
        memory.put(first, layout.first_line, &8_u32.to_ne_bytes());
        assert_eq!(number(&mut announced, &[first, second]), [3, 2]);
        assert_eq!(number(&mut announced, &[first]), [3]);
        assert_eq!(announced.0.len(), 3);
    }
}

/// Gives what a thread evaluates its numbers; whether it was what it had been, and its print.
fn look(found: &mut Found, layout: &'static Layout, thread: u64, rest: &mut Rest) -> (bool, u64) {
    let process = std::process::id();
    let reader = StackReader::new(process, OwnStack::default(), 0, WideWindow::default());
    if rest.at_rest {
        // SAFETY: the objects stay; their lists are whole.
        let before = unsafe { found.print_at_rest(layout, thread, &reader) };
        if before != 0 {
            return (true, before);
        }
    }
    // SAFETY: as above.
    unsafe { found.look(layout, thread, rest.at_rest, (process, &reader)) };
    let is_same = found.print() != 0;
    let facts = rest.facts.get_or_make_zeroed().unwrap();
    found.number(layout, &mut rest.codes, facts, (process, &mut rest.announced));
    (is_same, found.print())
}

#[derive(Default)]
struct Rest {
    codes: Codes,
    facts: Lazily<Facts>,
    announced: Announced,
    at_rest: bool,
}

/// Each change of what is evaluated is seen, and what is evaluated again has the print that it had.
#[test]
fn what_is_evaluated_is_known_again_as_long_as_nothing_has_changed() {
    let layouts = MINOR_VERSIONS.map(|minor| Layout::of(minor).unwrap());
    for (layout, at_rest) in layouts.into_iter().flat_map(|layout| [(layout, false), (layout, true)]) {
        let mut memory = Memory::default();
        let file = memory.string(layout, "/home/me/solve.py", 1, true);
        let name = memory.string(layout, "solve", 1, true);
        let [a, b] = [7, 20].map(|line| memory.code(layout, name, file, line));
        let evaluations: &[&[(u64, u32)]] = &[&[(a, 4)], &[(b, 6)]];
        let (first, _) = thread(&mut memory, layout, evaluations);
        let (second, _) = thread(&mut memory, layout, &[&[(a, 4)], &[(b, 8)]]);
        let mut room = Lazily::<Found>::default();
        let found = room.get_or_make_zeroed().unwrap();
        let rest = &mut Rest { at_rest, ..Rest::default() };
        let (is_same, print) = look(found, layout, first, rest);
        assert!(!is_same && print != 0, "3.{}", layout.minor);
        assert_eq!(look(found, layout, first, rest), (true, print));
        // Another thread's functions, of which one executes another instruction.
        let (is_same, other) = look(found, layout, second, rest);
        assert!(!is_same && other != 0 && other != print);
        let (is_same, again) = look(found, layout, first, rest);
        assert!(!is_same && again == print, "3.{}: by its content", layout.minor);
        assert_eq!(functions(found), [(b, 6), (a, 4)]);
        // Another object where `b` was, then its frame executes another one.
        memory.put(b, layout.first_line, &21_u32.to_ne_bytes());
        let (is_same, changed) = look(found, layout, first, rest);
        assert!(!is_same && changed != print && changed != 0);
        assert_eq!(look(found, layout, first, rest), (true, changed));
        assert_eq!(rest.announced.0.len(), 3);
        memory.word(b, TYPE, interpreter::code_type() + 8);
        assert_eq!(look(found, layout, first, rest), (false, 0), "no code: nothing is known of it");
        assert_eq!(look(found, layout, first, rest), (false, 0));
        memory.word(b, TYPE, interpreter::code_type());
        assert_eq!(look(found, layout, first, rest), (false, changed));
        assert_eq!(look(found, layout, first, rest), (true, changed));
    }
}

/// Pages that are unmapped, and more words than are remembered: each time all is read from scratch.
#[test]
fn what_cannot_be_read_again_is_read_from_scratch() {
    let process = std::process::id();
    let reader = StackReader::new(process, OwnStack::default(), 0, WideWindow::default());
    let mut room = Lazily::<Reads>::default();
    let reads = room.get_or_make_zeroed().unwrap();
    // SAFETY: anonymous memory anywhere.
    let page =
        unsafe { libc::mmap(core::ptr::null_mut(), 8192, libc::PROT_READ | libc::PROT_WRITE, 0x22, -1, 0) }
            as u64;
    assert!(!reads.is_as_it_was(process, &reader));
    // SAFETY: not at rest.
    unsafe { reads.restart(false) };
    let stays = Box::new([5_u64; 4]);
    let stays = stays.as_ptr() as u64;
    assert_eq!(reads.word(process, &reader, page), Some(0));
    assert_eq!(reads.word(process, &reader, page + 8000), Some(0));
    assert_eq!(reads.word(process, &reader, stays), Some(5));
    assert_eq!(reads.word(process, &reader, stays + 4), None);
    assert_eq!(reads.word(process, &reader, 0x1000), None);
    reads.finish();
    assert!(reads.is_whole() && reads.is_as_it_was(process, &reader));
    // SAFETY: the test's own page.
    unsafe { ((page + 8000) as *mut u64).write(9) };
    assert!(!reads.is_as_it_was(process, &reader));
    // SAFETY: not at rest.
    unsafe { reads.restart(false) };
    assert_eq!(reads.known_word(page + 8000), Some(9), "read with what was needed before");
    assert_eq!(reads.known_word(page + 4000), None);
    reads.finish();
    assert!(reads.is_as_it_was(process, &reader));
    // SAFETY: as above.
    unsafe { libc::munmap(page as *mut libc::c_void, 8192) };
    assert!(!reads.is_as_it_was(process, &reader));
    // SAFETY: not at rest.
    unsafe { reads.restart(false) };
    assert_eq!(reads.word(process, &reader, page + 8000), None);
    assert_eq!(reads.word(process, &reader, stays), Some(5));
    reads.finish();
    assert!(reads.is_as_it_was(process, &reader));
    // SAFETY: not at rest.
    unsafe { reads.restart(false) };
    for _ in 0..1100 {
        assert_eq!(reads.word(process, &reader, stays), Some(5));
    }
    reads.finish();
    assert!(!reads.is_whole() && !reads.is_as_it_was(process, &reader));
}
