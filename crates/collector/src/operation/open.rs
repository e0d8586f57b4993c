//! The operation that a thread is in.
//!
//! Written by its thread alone, and read by others at the process's end: every field is atomic, and
//! `operation` is stored last.

use core::ops::Range;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::Kind;
use crate::lane::{Lane, is_left};
use crate::path::memo::State;
use crate::path::tree::NodeId;
use crate::sample::alarm::Alarm;
use proust_log::operations::{Operation, Target};

/// The operation.
#[derive(Debug, Default)]
pub struct Open {
    /// An [`Operation`]; 0 = none.
    operation: AtomicU16,
    /// A [`Target`].
    target: AtomicU8,
    /// An [`Alarm`].
    alarm: AtomicU8,
    node: AtomicU32,
    begin_ns: AtomicU64,
    object: AtomicU64,
    object2: AtomicU64,
    pc: AtomicU64,
    sp: AtomicU64,
    bp: AtomicU64,
    /// Address of a word in the hook's frame that contains `begin_ns`.
    marker: AtomicU64,
}

impl Open {
    /// Whether there is none.
    #[inline]
    pub fn is_free(&self) -> bool {
        self.operation.load(Ordering::Relaxed) == 0
    }

    /// Whether the hook that began the operation has still to return, seen from a frame at `sp`.
    ///
    /// Its frame may be left ([`is_left`]); further in than it, it is gone if its marker was overwritten. A
    /// frame that begins an operation is another one than that which began this one. `alternate` is the
    /// thread's alternate stack.
    pub fn is_live(
        &self,
        sp: u64,
        begins: bool,
        lane: &Lane,
        alternate: impl FnOnce() -> Range<u64>,
    ) -> bool {
        let frame = self.sp.load(Ordering::Relaxed);
        let marker = self.marker.load(Ordering::Relaxed);
        // SAFETY: this is the owner, outside of its handler or in it; the own stack is written by it, with
        // the record taken.
        let own_stack = unsafe { lane.own_stack() };
        // No frame represents it.
        if frame == u64::MAX {
            return true;
        }
        if is_left(frame, sp.saturating_add(begins.into()), own_stack, alternate) {
            return false;
        }
        if !own_stack.contains(sp) || !own_stack.contains(marker) || marker < sp {
            return true;
        }
        // SAFETY: between a stack pointer of this thread's own stack and that stack's top all is mapped.
        unsafe { (marker as *const u64).read_volatile() == self.begin_ns() }
    }

    /// The state of the thread's timer on the wall's clock.
    #[inline]
    pub fn alarm(&self) -> Alarm {
        match self.alarm.load(Ordering::Relaxed) {
            1 => Alarm::Set,
            2 => Alarm::Suspended,
            _ => Alarm::Off,
        }
    }

    /// Keeps what it is doing.
    #[inline]
    pub fn set_alarm(&self, alarm: Alarm) {
        self.alarm.store(alarm as u8, Ordering::Relaxed);
    }

    /// Whether it is doing anything.
    #[inline]
    pub fn has_alarm(&self) -> bool {
        self.alarm.load(Ordering::Relaxed) != 0
    }

    /// The operation's kind.
    #[inline]
    pub fn kind(&self) -> Option<Kind> {
        let operation = Operation::from_number(self.operation.load(Ordering::Acquire))?;
        Some(Kind { operation, target: Target::from_number(self.target.load(Ordering::Relaxed)) })
    }

    /// Whether it is this one, of whatever.
    #[inline]
    pub fn is(&self, operation: Operation) -> bool {
        self.operation.load(Ordering::Relaxed) == operation as u16
    }

    /// The operation's kind, if it began at this instant.
    #[inline]
    pub fn kind_since(&self, begin_ns: u64) -> Option<Kind> {
        if self.begin_ns.load(Ordering::Relaxed) != begin_ns {
            return None;
        }
        self.kind()
    }

    /// Whether it is this one, of whatever, and began at this instant.
    #[inline]
    pub fn is_since(&self, operation: Operation, begin_ns: u64) -> bool {
        self.begin_ns.load(Ordering::Relaxed) == begin_ns && self.is(operation)
    }

    /// Enters an operation.
    #[inline]
    pub fn enter(
        &self,
        kind: Kind,
        objects: (u64, u64),
        begin_ns: u64,
        state: State,
        marker: u64,
        node: NodeId,
    ) {
        self.node.store(node, Ordering::Relaxed);
        self.begin_ns.store(begin_ns, Ordering::Relaxed);
        self.object.store(objects.0, Ordering::Relaxed);
        self.object2.store(objects.1, Ordering::Relaxed);
        self.pc.store(state.pc, Ordering::Relaxed);
        self.sp.store(state.sp, Ordering::Relaxed);
        self.bp.store(state.bp, Ordering::Relaxed);
        self.marker.store(marker, Ordering::Relaxed);
        self.target.store(kind.target as u8, Ordering::Relaxed);
        self.operation.store(kind.operation as u16, Ordering::Release);
    }

    /// The thread is in no operation any more.
    #[inline]
    pub fn leave(&self) {
        self.operation.store(0, Ordering::Release);
    }

    /// Begin of the operation.
    pub fn begin_ns(&self) -> u64 {
        self.begin_ns.load(Ordering::Relaxed)
    }

    /// Its object.
    #[inline]
    pub fn object(&self) -> u64 {
        self.object.load(Ordering::Relaxed)
    }

    /// Sets the second object, which only the call itself has shown.
    #[inline]
    pub fn set_object2(&self, object2: u64) {
        self.object2.store(object2, Ordering::Relaxed);
    }

    /// Its second object.
    #[inline]
    pub fn object2(&self) -> u64 {
        self.object2.load(Ordering::Relaxed)
    }

    /// The frame of its hook.
    #[inline]
    pub fn state(&self) -> State {
        State {
            pc: self.pc.load(Ordering::Relaxed),
            sp: self.sp.load(Ordering::Relaxed),
            bp: self.bp.load(Ordering::Relaxed),
            exact: true,
            ..State::default()
        }
    }

    /// Address of the word in its hook's frame; 0 = no frame represents it.
    pub fn marker(&self) -> u64 {
        self.marker.load(Ordering::Relaxed)
    }

    /// No frame of the thread's stack represents it: only its end ends it.
    pub fn outlives_its_frame(&self) {
        self.sp.store(u64::MAX, Ordering::Relaxed);
        self.marker.store(0, Ordering::Relaxed);
    }

    /// The frame where its call path begins.
    pub fn set_frame(&self, state: State) {
        self.pc.store(state.pc, Ordering::Relaxed);
        self.sp.store(state.sp, Ordering::Relaxed);
        self.bp.store(state.bp, Ordering::Relaxed);
    }

    /// Its call path, or that of the one before at this depth; 0 = not known.
    pub fn node(&self) -> NodeId {
        self.node.load(Ordering::Relaxed)
    }

    /// Keeps its call path.
    pub fn set_node(&self, node: NodeId) {
        self.node.store(node, Ordering::Relaxed);
    }
}
