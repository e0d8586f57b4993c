//! Stacks whose frames are known: they are written as calls write them.

use std::cell::RefCell;

use crate::path::memo::State;
use crate::path::modules::{FUNCTION_BYTES, FUNCTIONS, START};
use crate::path::rule::Rule;
use crate::path::stack::OwnStack;

thread_local! {
    /// Stacks that are read as by the system call: begin, words.
    static READABLE: RefCell<Vec<(u64, usize)>> = const { RefCell::new(Vec::new()) };
}

/// What the system call finds of `bytes.len()` bytes at `address`.
pub fn read(address: u64, bytes: &mut [u8]) -> usize {
    READABLE.with_borrow(|stacks| {
        let found = stacks.iter().find(|(begin, size)| (*begin..begin + *size as u64).contains(&address));
        let Some((begin, size)) = found else { return 0 };
        let there = ((begin + *size as u64 - address) as usize).min(bytes.len());
        // SAFETY: inside of a stack, which is never freed, and whose words were all written.
        let memory = unsafe { core::slice::from_raw_parts(address as *const u8, there) };
        bytes[..there].copy_from_slice(memory);
        there
    })
}

/// The rule of the function at this address; function 0 has no caller.
pub fn shape_of(address: u64) -> Rule {
    let function = (address - START) / FUNCTION_BYTES;
    let cfa = 2 + (function % 7) as u16;
    match function % 3 {
        _ if function == 0 => Rule::End,
        0 => Rule::FromStackPointer { cfa, saved: 0 },
        1 => Rule::FromStackPointer { cfa, saved: 2 },
        _ => Rule::FromFramePointer { cfa: 2, saved: 2 },
    }
}

/// A stack of a thread, from its first function on.
pub struct Stack {
    memory: *mut u64,
    words: usize,
    /// From the first function: the addresses that calls return to, and the interrupted one.
    frames: Vec<State>,
    /// Whether the collector knows it as the thread's own.
    is_own: bool,
}

impl Stack {
    pub fn new(words: usize, is_own: bool) -> Stack {
        let memory = Box::leak(vec![0_u64; words].into_boxed_slice()).as_mut_ptr();
        let begin = memory.expose_provenance() as u64;
        READABLE.with_borrow_mut(|stacks| stacks.push((begin, words * 8)));
        let mut stack = Stack { memory, words, frames: Vec::new(), is_own };
        let sp = stack.top() - 64;
        stack.frames.push(State { pc: START + 5, sp, bp: 0x77, exact: true, ..State::default() });
        stack
    }

    /// A stack of a function whose frame reaches up to `words` words below the top, and whose caller nobody
    /// knows.
    pub fn of_one(function: u64, words: u64, is_own: bool) -> Stack {
        let mut stack = Stack::new(16, is_own);
        let sp = stack.top() - 8 * words;
        let pc = START + function * FUNCTION_BYTES + 9;
        stack.frames = vec![State { pc, sp, bp: sp, exact: true, ..State::default() }];
        stack
    }

    pub fn top(&self) -> u64 {
        self.memory.addr() as u64 + self.words as u64 * 8
    }

    pub fn own(&self) -> OwnStack {
        if self.is_own {
            OwnStack { low: self.memory.addr() as u64, top: self.top() }
        } else {
            OwnStack::default()
        }
    }

    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    pub fn leaf(&self) -> State {
        self.frames[self.frames.len() - 1]
    }

    fn write(&mut self, address: u64, word: u64) {
        let at = (address - self.memory.addr() as u64) as usize / 8;
        assert!(at < self.words);
        // SAFETY: inside of the stack, which only this thread uses.
        unsafe { self.memory.add(at).write(word) };
    }

    /// The innermost function calls another one at some place of its own, which will keep `bp` in the frame
    /// pointer's register if it does not keep its frame there. False where the stack has no room.
    pub fn call(&mut self, function: u64, place: u64, bp: u64) -> bool {
        let caller = self.leaf();
        let entry = START + function % FUNCTIONS * FUNCTION_BYTES;
        let shape = shape_of(entry);
        let words = match shape {
            Rule::FromStackPointer { cfa, .. } => u64::from(cfa),
            Rule::FromFramePointer { .. } => 4 + function % 5,
            _ => return true,
        };
        let cfa = caller.sp;
        if cfa < self.memory.addr() as u64 + (words + 40) * 8 {
            return false;
        }
        let returns_to = caller.pc / FUNCTION_BYTES * FUNCTION_BYTES + 1 + place % (FUNCTION_BYTES - 1);
        let outer = self.frames.len() - 1;
        (self.frames[outer].pc, self.frames[outer].exact) = (returns_to, false);
        self.write(cfa - 8, returns_to);
        let bp = match shape {
            Rule::FromStackPointer { saved: 0, .. } => caller.bp,
            Rule::FromStackPointer { saved, .. } => {
                self.write(cfa - 8 * u64::from(saved), caller.bp);
                bp
            }
            _ => {
                self.write(cfa - 16, caller.bp);
                cfa - 16
            }
        };
        let pc = entry + place % FUNCTION_BYTES;
        self.frames.push(State { pc, sp: cfa - 8 * words, bp, exact: true, ..State::default() });
        true
    }

    /// The innermost function returns, and its caller continues at `place`.
    pub fn leave(&mut self, place: u64) {
        if self.frames.len() > 1 {
            self.frames.pop();
            let last = self.frames.len() - 1;
            let pc = self.frames[last].pc / FUNCTION_BYTES * FUNCTION_BYTES + place % FUNCTION_BYTES;
            (self.frames[last].pc, self.frames[last].exact) = (pc, true);
        }
    }

    /// The addresses by which the frames' functions are found, leaf first.
    pub fn lookups(&self) -> impl Iterator<Item = u64> {
        self.frames.iter().rev().map(State::lookup)
    }
}
