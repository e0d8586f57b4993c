//! The frames of a thread's interpreter, as groups: those that one evaluation on the native stack executes.

use core::ops::Range;

use super::codes::{Codes, Facts};
use super::interpreter;
use super::layout::{ADDRESS, Chain, Instruction, Last, Layout};
use super::memory::Memory;
use crate::arena::spread;
use crate::path::Announce;
use crate::path::stack::StackReader;

/// A function that is evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Its code object.
    pub code: u64,
    /// Byte of its code that executes.
    pub at: u32,
    /// The lane's number of its code; 0: not known.
    pub number: u32,
}

/// The functions of an evaluation.
#[derive(Clone, Copy)]
struct Group {
    /// An address in the evaluation's part of the native stack.
    marker: u64,
    first: u32,
    end: u32,
}

const MOST_FUNCTIONS: usize = 2048;
const MOST_GROUPS: usize = 1024;

/// What was found for a path, innermost first. All zeros is a valid value.
pub struct Found {
    functions: [Function; MOST_FUNCTIONS],
    function_count: usize,
    groups: [Group; MOST_GROUPS],
    group_count: usize,
    /// Whether there were more than can be kept.
    is_cut: bool,
    memory: Memory,
    /// Of what they were read: layout, thread, type of code.
    source: [u64; 3],
    /// Of all functions and groups.
    print: u64,
}

// SAFETY: numbers and arrays of numbers, of which all zeros is a value.
unsafe impl crate::arena::Zeroed for Found {}

/// A frame as it was read.
struct Frame {
    code: u64,
    at: u32,
    above: u64,
}

/// A list of markers.
struct Markers {
    /// Address of the innermost one's address.
    innermost: u64,
    /// In a marker, the address of the one above.
    above: u64,
    /// The outermost one.
    root: u64,
}

/// What the thread's memory is read by.
struct Reading<'a> {
    layout: &'a Layout,
    process: u32,
    stack: &'a StackReader,
}

impl Found {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.function_count == 0
    }

    /// The marker of a group.
    #[inline]
    pub fn marker(&self, group: u16) -> Option<u64> {
        self.all_groups().get(usize::from(group)).map(|group| group.marker)
    }

    /// Functions of a group, innermost first.
    pub fn functions(&self, group: u16) -> &[Function] {
        let group = self.all_groups().get(usize::from(group));
        group.and_then(|group| self.functions.get(group.range())).unwrap_or_default()
    }

    /// The function that is so many evaluations below the outermost one, where each evaluates one.
    pub fn counted(&self, from_outermost: usize) -> &[Function] {
        let at = self.function_count.checked_sub(from_outermost + 1);
        at.and_then(|at| self.functions.get(at..=at)).unwrap_or_default()
    }

    /// Whether so many evaluations are those of these functions. There is one more where an evaluation has
    /// just begun or is about to end; but also where a greenlet's list ends above the outermost evaluations.
    pub fn is_as_many_as(&self, evaluations: usize) -> bool {
        !self.is_cut && evaluations == self.function_count
    }

    /// All functions.
    pub fn all(&self) -> &[Function] {
        self.functions.get(..self.function_count).unwrap_or_default()
    }

    fn all_groups(&self) -> &[Group] {
        self.groups.get(..self.group_count).unwrap_or_default()
    }

    /// The frames of the calling thread, whose state lies at `thread`: read, unless all memory that was read
    /// for the last path is what it was. Then they have their numbers, and the print is that of the last
    /// path.
    ///
    /// # Safety
    /// If the thread is said to be `at_rest`, it is inside a function that its interpreter called.
    pub unsafe fn look(
        &mut self,
        layout: &'static Layout,
        thread: u64,
        at_rest: bool,
        (process, stack): (u32, &StackReader),
    ) {
        let source = source_of(layout, thread);
        let is_same_thread = self.source == source;
        // At rest it is known already that something has changed, or it is about to be.
        if !at_rest && self.memory.is_as_it_was(process, stack) && is_same_thread {
            return;
        }
        self.source = source;
        // SAFETY: the caller's promise. What was read of another thread's says nothing of this one.
        unsafe { self.memory.restart(at_rest && is_same_thread) };
        self.read(layout, thread, process, stack);
    }

    /// The print of the last path, if all memory that was read for it is what it was; else 0.
    ///
    /// # Safety
    /// The calling thread is inside a function that its interpreter called.
    pub unsafe fn print_at_rest(&self, layout: &'static Layout, thread: u64, stack: &StackReader) -> u64 {
        let is_same_thread = self.source == source_of(layout, thread);
        // SAFETY: the caller's promise; the first word is read from the thread's state.
        let holds = is_same_thread && unsafe { self.memory.is_as_it_was_at_rest(stack) };
        if holds { self.print() } else { 0 }
    }

    /// Gives each function the number of its code.
    pub fn number(
        &mut self,
        layout: &Layout,
        codes: &mut Codes,
        facts: &mut Facts,
        (process, announce): (u32, &mut dyn Announce),
    ) {
        if self.memory.is_whole() {
            return;
        }
        let functions = self.functions.get_mut(..self.function_count).unwrap_or_default();
        codes.number(layout, functions, (facts, &mut self.memory), (process, announce));
        self.print = self.new_print();
        if self.print != 0 {
            self.memory.finish();
        }
    }

    /// What tells these functions from all others; 0: not known. Of functions that have their numbers.
    pub fn print(&self) -> u64 {
        if self.memory.is_whole() { self.print } else { 0 }
    }

    fn new_print(&self) -> u64 {
        let functions = self.all();
        if self.is_cut || functions.is_empty() || functions.iter().any(|function| function.number == 0) {
            return 0;
        }
        let of_functions = functions.iter().map(|one| u64::from(one.number) << 32 | u64::from(one.at));
        let of_groups = self.all_groups().iter();
        let of_groups = of_groups.flat_map(|of| [of.marker, u64::from(of.first) << 32 | u64::from(of.end)]);
        of_functions.chain(of_groups).fold(1, |print: u64, word| spread(print.rotate_left(23) ^ word)).max(1)
    }

    /// Reads the frames of the calling thread, whose state lies at `thread`.
    fn read(&mut self, layout: &Layout, thread: u64, process: u32, stack: &StackReader) {
        (self.function_count, self.group_count, self.is_cut) = (0, 0, false);
        let reading = Reading { layout, process, stack };
        match layout.chain {
            Chain::Frames { innermost } => self.read_frames(&reading, thread + innermost),
            Chain::FramesAndMarkers { innermost, marker, above, root } => {
                let markers = Markers { innermost: thread + marker, above, root: thread + root };
                self.read_frames(&reading, thread + innermost);
                self.read_markers(&reading, &markers);
            }
            Chain::MarkersWithFrames { marker, frame, above, root, last } => {
                let markers = Markers { innermost: thread + marker, above, root: thread + root };
                self.read_markers_with_frames(&reading, &markers, frame, last);
            }
            Chain::FramesWithMarkers { innermost, last } => {
                self.read_frames_with_markers(&reading, thread + innermost, last);
            }
        }
    }

    fn read_frames(&mut self, reading: &Reading<'_>, innermost: u64) {
        let Some(mut at) = self.word(reading, innermost) else { return };
        while at != 0 {
            let Some(frame) = self.frame(reading, at) else { break };
            if !self.push(&frame) {
                break;
            }
            at = frame.above;
        }
    }

    /// Each frame is a group of its own.
    fn read_markers(&mut self, reading: &Reading<'_>, markers: &Markers) {
        let mut evaluations = 0;
        self.each_marker(reading, markers, &mut |_, _| evaluations += 1);
        if !self.is_as_many_as(evaluations) {
            self.function_count = 0;
            return;
        }
        let mut place = 0_usize;
        self.each_marker(reading, markers, &mut |found, marker| {
            found.push_group(marker, place..place + 1);
            place += 1;
        });
    }

    fn read_markers_with_frames(&mut self, reading: &Reading<'_>, markers: &Markers, frame: u64, last: Last) {
        self.each_marker(reading, markers, &mut |found, marker| {
            let first = found.function_count;
            // What an evaluation has not yet set is not one of its frames, and says nothing of the others.
            if found.read_group(reading, marker + frame, last).is_none() {
                found.function_count = first;
            }
            found.push_group(marker, first..found.function_count);
        });
    }

    /// The frames of one evaluation, of which the innermost one is at the address that stands at `place`.
    fn read_group(&mut self, reading: &Reading<'_>, place: u64, last: Last) -> Option<()> {
        let mut at = self.word(reading, place)?;
        while at != 0 {
            if let Last::Behind(offset, value) = last
                && self.byte(reading, at.wrapping_add(offset))? == value
            {
                break;
            }
            let frame = self.frame(reading, at)?;
            let is_last =
                matches!(last, Last::NotZero(offset) if self.byte(reading, at.wrapping_add(offset))? != 0);
            if !self.push(&frame) || is_last {
                break;
            }
            at = frame.above;
        }
        Some(())
    }

    fn read_frames_with_markers(&mut self, reading: &Reading<'_>, innermost: u64, last: Last) {
        let Last::Behind(offset, value) = last else { return };
        let Some(mut at) = self.word(reading, innermost) else { return };
        let mut first = self.function_count;
        while at != 0 && !self.is_cut {
            let Some(byte) = self.byte(reading, at.wrapping_add(offset)) else { break };
            if byte == value {
                self.push_group(at, first..self.function_count);
                first = self.function_count;
                let Some(above) = self.word(reading, at.wrapping_add(reading.layout.previous)) else { break };
                at = above;
                continue;
            }
            let Some(frame) = self.frame(reading, at) else { break };
            self.push(&frame);
            at = frame.above;
        }
    }

    /// Up to the outermost one, which marks no evaluation. What it says of one above it is not set in 3.10.
    fn each_marker(
        &mut self,
        reading: &Reading<'_>,
        markers: &Markers,
        visit: &mut dyn FnMut(&mut Found, u64),
    ) {
        let Some(mut marker) = self.word(reading, markers.innermost) else { return };
        for _ in 0..=MOST_GROUPS {
            if marker == 0 || marker == markers.root {
                return;
            }
            visit(self, marker);
            let Some(next) = self.word(reading, marker.wrapping_add(markers.above)) else { return };
            marker = next;
        }
        self.is_cut = true;
    }

    fn frame(&mut self, reading: &Reading<'_>, at: u64) -> Option<Frame> {
        let layout = reading.layout;
        let code = self.word(reading, at.wrapping_add(layout.code))? & ADDRESS;
        let above = self.word(reading, at.wrapping_add(layout.previous))?;
        let at = match layout.instruction {
            Instruction::Number { at: offset, unit } => {
                let number = self.half(reading, at.wrapping_add(offset))?;
                // Before its first instruction it is -1.
                u32::try_from(number.cast_signed()).unwrap_or(0).saturating_mul(unit)
            }
            Instruction::Pointer { at: offset, begin } => {
                let pointer = self.word(reading, at.wrapping_add(offset))?;
                u32::try_from(pointer.saturating_sub(code.wrapping_add(begin))).ok()?
            }
        };
        (code != 0).then_some(Frame { code, at, above })
    }

    fn word(&mut self, reading: &Reading<'_>, address: u64) -> Option<u64> {
        self.memory.word(reading.process, reading.stack, address)
    }

    /// The 32 bits at an address that is a multiple of 4.
    fn half(&mut self, reading: &Reading<'_>, address: u64) -> Option<u32> {
        let word = self.word(reading, address & !7)?.to_ne_bytes();
        let at = (address & 7) as usize;
        Some(u32::from_ne_bytes(word.get(at..at + 4)?.try_into().ok()?))
    }

    fn byte(&mut self, reading: &Reading<'_>, address: u64) -> Option<u8> {
        self.word(reading, address & !7).map(|word| word.to_ne_bytes()[(address & 7) as usize])
    }

    fn push(&mut self, frame: &Frame) -> bool {
        let Some(place) = self.functions.get_mut(self.function_count) else {
            self.is_cut = true;
            return false;
        };
        *place = Function { code: frame.code, at: frame.at, number: 0 };
        self.function_count += 1;
        true
    }

    fn push_group(&mut self, marker: u64, functions: Range<usize>) {
        match self.groups.get_mut(self.group_count) {
            Some(place) => {
                *place = Group { marker, first: functions.start as u32, end: functions.end as u32 };
                self.group_count += 1;
            }
            None => self.is_cut = true,
        }
    }
}

/// What tells the sources of frames apart.
fn source_of(layout: &'static Layout, thread: u64) -> [u64; 3] {
    [core::ptr::from_ref(layout) as u64, thread, interpreter::code_type()]
}

impl Group {
    fn range(&self) -> Range<usize> {
        self.first as usize..self.end as usize
    }
}
