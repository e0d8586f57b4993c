//! Ids: a type for each table, so that a thread's number cannot be passed where a context's is meant.
//!
//! An id is a position in the vector of what it names. [`IndexVec`] is a vector that only ids of its own
//! type index; `raw` gives the plain one.

#[doc(hidden)]
pub use serde;
pub use typed_index_collections::{TiSlice as IndexSlice, TiVec as IndexVec};

/// Defines types of ids: four bytes, numbers in JSON and tables.
///
/// `define_id! { /// Position in … pub struct ThingId "t"; }`: the debug form of the thirteenth is `t12`.
#[macro_export]
macro_rules! define_id {
    ($($(#[$doc:meta])* $visibility:vis struct $name:ident $letter:literal;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility struct $name(pub u32);

        #[allow(dead_code, reason = "not every type of ids needs all of them")]
        impl $name {
            /// The id of the item at this position.
            ///
            /// # Panics
            /// Beyond 2³² items.
            #[inline]
            pub fn from_index(index: usize) -> $name {
                $name(u32::try_from(index).expect("more items than ids"))
            }

            /// The position.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<usize> for $name {
            #[inline]
            fn from(index: usize) -> $name {
                $name::from_index(index)
            }
        }

        impl From<$name> for usize {
            #[inline]
            fn from(id: $name) -> usize {
                id.index()
            }
        }

        impl From<u32> for $name {
            #[inline]
            fn from(number: u32) -> $name {
                $name(number)
            }
        }

        impl From<$name> for u32 {
            #[inline]
            fn from(id: $name) -> u32 {
                id.0
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}{}", $letter, self.0)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&self.0, f)
            }
        }

        impl $crate::ids::serde::Serialize for $name {
            fn serialize<S: $crate::ids::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                $crate::ids::serde::Serialize::serialize(&self.0, to)
            }
        }

        impl<'de> $crate::ids::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::ids::serde::Deserializer<'de>>(from: D) -> Result<$name, D::Error> {
                $crate::ids::serde::Deserialize::deserialize(from).map($name)
            }
        }
    )* };
}

define_id! {
    /// Position in [`crate::Profile::processes`].
    pub struct ProcessId "p";
    /// Position in [`crate::Profile::locations`].
    pub struct LocationId "l";
    /// Position in [`crate::Profile::contexts`].
    pub struct ContextId "c";
    /// Position in [`crate::Profile::functions`].
    pub struct FunctionId "f";
    /// Position in [`crate::Profile::modules`].
    pub struct ModuleId "m";
    /// Position in [`crate::Profile::operations`].
    pub struct OperationId "o";
    /// Position in [`crate::Profile::regions`].
    pub struct RegionId "r";
}

impl ContextId {
    /// The whole program, the root of the tree.
    pub const PROGRAM: ContextId = ContextId(0);
}
