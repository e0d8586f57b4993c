//! Data that a lane has written once and short records refer to.

use zerocopy::FromBytes;

use super::Record;
use crate::records::{
    Base, Event, Execution, Head, Kind, MOST_SLOTS, Release, Shape, Shaped, Short, Stay, Sum,
};

/// The newest base, and the newest shape of each slot, with their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    base: Option<(u8, Base)>,
    shapes: Vec<Option<(u8, Shape)>>,
}

/// The result of reading a record.
pub(super) enum Taken {
    /// It is none of these kinds.
    No,
    /// It says what later ones refer to.
    Kept,
    /// It was a short one: this is the long form.
    Record(Record<'static>),
    /// The record that it refers to was lost.
    Lost,
}

impl Known {
    pub(super) fn take(&mut self, head: Head, body: &[u8]) -> Taken {
        match head.kind {
            k if k == Kind::Short as u8 => self.long(head, body).map_or(Taken::Lost, Taken::Record),
            k if k == Kind::Shape as u8 => {
                let slot = usize::from(head.a);
                if let Ok(shape) = Shape::read_from_bytes(body)
                    && slot < MOST_SLOTS
                {
                    if self.shapes.len() <= slot {
                        self.shapes.resize(slot + 1, None);
                    }
                    self.shapes[slot] = Some((head.b as u8, shape));
                }
                Taken::Kept
            }
            k if k == Kind::Base as u8 => {
                self.base = Base::read_from_bytes(body).ok().map(|base| (head.a as u8, base));
                Taken::Kept
            }
            _ => Taken::No,
        }
    }

    fn long(&self, head: Head, body: &[u8]) -> Option<Record<'static>> {
        let (short, rest) = Short::read_from_prefix(body).ok()?;
        let (generation, shape) = self.shapes.get(usize::from(head.a))?.as_ref()?;
        let (number, base) = self.base.as_ref()?;
        let [of_base, of_shape] = head.b.to_le_bytes();
        if (of_shape, of_base) != (*generation, *number) {
            return None;
        }
        let apart = match shape.bytes_apart {
            0 if rest.is_empty() => 0,
            0 => return None,
            _ => u64::from_ne_bytes(rest.try_into().ok()?),
        };
        let (a, b) = (shape.a, shape.b);
        match shape.kind {
            k if k == Kind::Event as u16 => {
                Some(Record::Event(a, b, Event::long(shape, base, &short, apart)?))
            }
            k if k == Kind::Release as u16 => {
                Some(Record::Release(a, b, Release::long(shape, base, &short, apart)?))
            }
            k if k == Kind::Stay as u16 => Some(Record::Stay(a, b, Stay::long(shape, base, &short, apart)?)),
            k if k == Kind::Execution as u16 => {
                Some(Record::Execution(a, Execution::long(shape, base, &short, apart)?))
            }
            k if k == Kind::Sum as u16 => Some(Record::Sum(a, b, Sum::long(shape, base, &short, apart)?)),
            _ => None,
        }
    }
}
