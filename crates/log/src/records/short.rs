//! Short forms: of a record that resembles earlier ones of its lane only the times are written.
//!
//! The repeating fields (the operation, its caller, the object, the bytes) are written once, as a [`Shape`]
//! in a numbered slot of the lane; times are written as differences from a [`Base`]. A [`Short`] record names
//! both and is 24 bytes long, where an event is 80, a release or a sum 64, an execution 40. A slot is used
//! again when another shape needs it: its generation says which of the two a record means, so that a record
//! whose shape or base was lost to damage is recognised and skipped. Bytes that no other record has would be
//! a shape each; they follow the times, and the record is 32 bytes long. The reader yields the long forms
//! only.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::{Body, Event, Execution, Kind, Release, Stay, Sum};

/// Most slots that a lane has: a number beyond is damage.
pub const MOST_SLOTS: usize = 1024;

/// Times of a base lie that much before those of the record for which it was written: later records may have
/// begun, or were released, a little earlier.
const MARGIN_NS: u64 = 1_000_000_000;

/// The fields that records have in common, without their times. `head.a` is the slot, `head.b` the
/// generation.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Shape {
    /// Object of an event or a release.
    pub object: u64,
    /// [`Event::object2`], or [`Release::site`].
    pub object2: u64,
    /// [`Event::bytes`]; of a sum those of each call. Of [`Shape::bytes_apart`] 0.
    pub bytes: u64,
    /// Context node.
    pub node: u32,
    /// [`Event::error`], or [`Sum::errors`].
    pub error: u32,
    /// Innermost marked interval.
    pub interval: u32,
    /// Innermost parallel region.
    pub region: u32,
    /// [`Event::runtime_state`].
    pub runtime_state: u16,
    /// `head.a` of the long form.
    pub a: u16,
    /// `head.b` of the long form.
    pub b: u16,
    /// [`Kind`] of the long form.
    pub kind: u16,
    /// [`Event::request`].
    pub request: u32,
    /// 1 = the bytes follow each record of this shape.
    pub bytes_apart: u32,
}

impl Shape {
    /// All of it, as words.
    #[inline(always)]
    pub(crate) fn words(&self) -> [u64; SHAPE_WORDS] {
        zerocopy::transmute!(*self)
    }
}

/// Words of a [`Shape`].
pub(crate) const SHAPE_WORDS: usize = size_of::<Shape>() / 8;

/// The origin of the times of the following [`Short`] records. `head.a` is its number, modulo 256. Each chunk
/// with such records has one of its own.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Base {
    /// CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// Thread CPU clock.
    pub cpu_ns: u64,
}

/// A record by its shape. `head.a` is the shape's slot, `head.b` its generation in the upper and the number
/// of the base in the lower 8 bits.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Short {
    /// From the base to the begin of an event, a stay, an execution or a sum, or to a release.
    pub at_ns: u32,
    /// How long the event, stay or execution was, from a sum's begin to its end, or how long the lock was
    /// held.
    pub length_ns: u32,
    /// Of an event, one more than the thread's CPU clock since the base, 0 = not read; of a release
    /// [`Release::weight_ns`]; of a stay the time from [`Stay::fork_ns`] to the begin; of a sum
    /// [`Sum::ns`]; of an execution [`Execution::iterations`].
    pub third: u32,
    /// Of an event the processor; of a release one more than the time since [`Release::since_ns`], 0 = that
    /// is not known; of a sum [`Sum::calls`].
    pub fourth: u32,
}

/// A record that has a short form.
pub trait Shaped: Body {
    /// The fields it has in common with others; `a` and `b` are those of its head.
    fn shape(&self, a: u16, b: u16) -> Shape;

    /// Times from which its own, and those of the records that follow, can be counted.
    fn base(&self) -> Base;

    /// Its times; None if they do not fit, or contradict each other.
    fn short(&self, base: &Base) -> Option<Short>;

    /// Its bytes, where they are no part of its shape.
    #[inline(always)]
    fn bytes_apart(&self) -> Option<u64> {
        None
    }

    /// The record of that shape with those times, and of those bytes if they are apart; None if the sum of a
    /// time and its base is none.
    fn long(shape: &Shape, base: &Base, short: &Short, apart: u64) -> Option<Self>;
}

/// From an earlier to a later time, if that is so and fits.
#[inline]
fn between(earlier_ns: u64, later_ns: u64) -> Option<u32> {
    u32::try_from(later_ns.checked_sub(earlier_ns)?).ok()
}

/// One more than [`between`], so that 0 is left for what is not known.
#[inline]
fn one_more(earlier_ns: u64, later_ns: u64) -> Option<u32> {
    between(earlier_ns, later_ns)?.checked_add(1)
}

impl Shaped for Event {
    #[inline]
    fn shape(&self, a: u16, b: u16) -> Shape {
        Shape {
            object: self.object,
            object2: self.object2,
            bytes: self.bytes,
            node: self.node,
            error: self.error,
            interval: self.interval,
            region: self.region,
            runtime_state: self.runtime_state,
            a,
            b,
            kind: Kind::Event as u16,
            request: self.request,
            bytes_apart: 0,
        }
    }

    #[inline]
    fn base(&self) -> Base {
        Base { time_ns: self.begin_ns.saturating_sub(MARGIN_NS), cpu_ns: self.cpu_ns }
    }

    #[inline]
    fn short(&self, base: &Base) -> Option<Short> {
        let cpu = if self.cpu_ns == 0 { 0 } else { one_more(base.cpu_ns, self.cpu_ns)? };
        Some(Short {
            at_ns: between(base.time_ns, self.begin_ns)?,
            length_ns: between(self.begin_ns, self.end_ns)?,
            third: cpu,
            fourth: self.processor.into(),
        })
    }

    fn long(shape: &Shape, base: &Base, short: &Short, _: u64) -> Option<Event> {
        let begin_ns = base.time_ns.checked_add(short.at_ns.into())?;
        Some(Event {
            begin_ns,
            end_ns: begin_ns.checked_add(short.length_ns.into())?,
            cpu_ns: match short.third.checked_sub(1) {
                Some(since_ns) => base.cpu_ns.checked_add(since_ns.into())?,
                None => 0,
            },
            object: shape.object,
            object2: shape.object2,
            bytes: shape.bytes,
            node: shape.node,
            error: shape.error,
            interval: shape.interval,
            region: shape.region,
            runtime_state: shape.runtime_state,
            processor: short.fourth as u16,
            request: shape.request,
        })
    }
}

impl Shaped for Release {
    #[inline]
    fn shape(&self, a: u16, b: u16) -> Shape {
        Shape {
            object: self.object,
            object2: self.site.into(),
            node: self.node,
            interval: self.interval,
            region: self.region,
            a,
            b,
            kind: Kind::Release as u16,
            ..Shape::default()
        }
    }

    #[inline]
    fn base(&self) -> Base {
        Base { time_ns: self.time_ns.saturating_sub(MARGIN_NS), cpu_ns: 0 }
    }

    #[inline]
    fn short(&self, base: &Base) -> Option<Short> {
        Some(Short {
            at_ns: between(base.time_ns, self.time_ns)?,
            length_ns: u32::try_from(self.held_ns).ok()?,
            third: u32::try_from(self.weight_ns).ok()?,
            fourth: if self.since_ns == 0 { 0 } else { one_more(self.since_ns, self.time_ns)? },
        })
    }

    fn long(shape: &Shape, base: &Base, short: &Short, _: u64) -> Option<Release> {
        let time_ns = base.time_ns.checked_add(short.at_ns.into())?;
        Some(Release {
            time_ns,
            object: shape.object,
            held_ns: short.length_ns.into(),
            weight_ns: short.third.into(),
            since_ns: match short.fourth.checked_sub(1) {
                Some(before_ns) => time_ns.checked_sub(before_ns.into())?,
                None => 0,
            },
            node: shape.node,
            site: shape.object2 as u32,
            region: shape.region,
            interval: shape.interval,
        })
    }
}

impl Shaped for Stay {
    #[inline]
    fn shape(&self, a: u16, b: u16) -> Shape {
        let (interval, region) = (self.interval, self.region);
        Shape { interval, region, a, b, kind: Kind::Stay as u16, ..Shape::default() }
    }

    #[inline]
    fn base(&self) -> Base {
        Base { time_ns: self.begin_ns.saturating_sub(MARGIN_NS), cpu_ns: 0 }
    }

    #[inline]
    fn short(&self, base: &Base) -> Option<Short> {
        Some(Short {
            at_ns: between(base.time_ns, self.begin_ns)?,
            length_ns: between(self.begin_ns, self.end_ns)?,
            third: between(self.fork_ns, self.begin_ns)?,
            fourth: 0,
        })
    }

    fn long(shape: &Shape, base: &Base, short: &Short, _: u64) -> Option<Stay> {
        let begin_ns = base.time_ns.checked_add(short.at_ns.into())?;
        Some(Stay {
            fork_ns: begin_ns.checked_sub(short.third.into())?,
            begin_ns,
            end_ns: begin_ns.checked_add(short.length_ns.into())?,
            region: shape.region,
            interval: shape.interval,
        })
    }
}

impl Shaped for Sum {
    #[inline]
    fn shape(&self, a: u16, b: u16) -> Shape {
        let is_apart = self.bytes_apart().is_some();
        Shape {
            bytes: if is_apart { 0 } else { self.bytes / u64::from(self.calls.max(1)) },
            node: self.node,
            error: self.errors,
            interval: self.interval,
            region: self.region,
            a,
            b,
            kind: Kind::Sum as u16,
            bytes_apart: is_apart.into(),
            ..Shape::default()
        }
    }

    #[inline]
    fn base(&self) -> Base {
        Base { time_ns: self.since_ns.saturating_sub(MARGIN_NS), cpu_ns: 0 }
    }

    #[inline]
    fn short(&self, base: &Base) -> Option<Short> {
        Some(Short {
            at_ns: between(base.time_ns, self.since_ns)?,
            length_ns: between(self.since_ns, self.until_ns)?,
            third: u32::try_from(self.ns).ok()?,
            fourth: self.calls,
        })
    }

    #[inline]
    fn bytes_apart(&self) -> Option<u64> {
        // Calls that moved different amounts would need a shape each.
        (!self.bytes.is_multiple_of(self.calls.max(1).into())).then_some(self.bytes)
    }

    fn long(shape: &Shape, base: &Base, short: &Short, apart: u64) -> Option<Sum> {
        let since_ns = base.time_ns.checked_add(short.at_ns.into())?;
        Some(Sum {
            since_ns,
            until_ns: since_ns.checked_add(short.length_ns.into())?,
            ns: short.third.into(),
            bytes: match shape.bytes_apart {
                0 => shape.bytes.checked_mul(short.fourth.max(1).into())?,
                _ => apart,
            },
            calls: short.fourth,
            errors: shape.error,
            node: shape.node,
            region: shape.region,
            interval: shape.interval,
            reserved: 0,
        })
    }
}

impl Shaped for Execution {
    #[inline]
    fn shape(&self, a: u16, b: u16) -> Shape {
        Shape { interval: self.interval, a, b, kind: Kind::Execution as u16, ..Shape::default() }
    }

    #[inline]
    fn base(&self) -> Base {
        Base { time_ns: self.begin_ns.saturating_sub(MARGIN_NS), cpu_ns: 0 }
    }

    #[inline]
    fn short(&self, base: &Base) -> Option<Short> {
        Some(Short {
            at_ns: between(base.time_ns, self.begin_ns)?,
            length_ns: between(self.begin_ns, self.end_ns)?,
            third: u32::try_from(self.iterations).ok()?,
            fourth: 0,
        })
    }

    fn long(shape: &Shape, base: &Base, short: &Short, _: u64) -> Option<Execution> {
        let begin_ns = base.time_ns.checked_add(short.at_ns.into())?;
        Some(Execution {
            begin_ns,
            end_ns: begin_ns.checked_add(short.length_ns.into())?,
            iterations: short.third.into(),
            interval: shape.interval,
            reserved: 0,
        })
    }
}
