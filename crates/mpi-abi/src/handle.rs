//! Handles: a word when they are passed, four or eight bytes in memory.

use core::ffi::CStr;

use crate::abi::Abi;

/// A predefined handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predefined {
    /// This number.
    Value(usize),
    /// The address of this variable, as the whole program sees it: an executable may have a copy of it, which
    /// then is the one that counts. So it must be looked up with global scope, never in the library alone.
    Symbol(&'static CStr),
}

impl Predefined {
    /// The handle; `address_of` finds variables. 0 where there is no such variable.
    pub fn resolve(self, address_of: impl FnOnce(&'static CStr) -> usize) -> usize {
        match self {
            Predefined::Value(value) => value,
            Predefined::Symbol(name) => address_of(name),
        }
    }
}

impl Abi {
    /// A handle that was passed by value, without the upper half of its register where that means nothing.
    #[inline]
    pub fn passed(&self, word: usize) -> usize {
        if self.handle_bytes == 4 { word & 0xffff_ffff } else { word }
    }

    /// The handle at position `index` of an array.
    ///
    /// # Safety
    /// The array has such an element, which may be read.
    #[inline]
    pub unsafe fn handle_at(&self, array: *const u8, index: usize) -> usize {
        // SAFETY: the caller's promise.
        unsafe {
            if self.handle_bytes == 4 {
                array.cast::<u32>().add(index).read_unaligned() as usize
            } else {
                array.cast::<usize>().add(index).read_unaligned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::{MPICH, OPEN_MPI};

    #[test]
    fn handles_are_read_in_their_width() {
        let words = [0x2c00_0000_u32, 0x98, 7, 8];
        let array = words.as_ptr().cast::<u8>();
        // SAFETY: the arrays above have these elements.
        unsafe {
            assert_eq!(MPICH.handle_at(array, 1), 0x98);
            assert_eq!(OPEN_MPI.handle_at(array, 1), 0x8_0000_0007);
        }
        assert_eq!(MPICH.passed(0xdead_beef_4400_0000), 0x4400_0000);
        assert_eq!(OPEN_MPI.passed(0x7f00_0000_1000), 0x7f00_0000_1000);
    }

    #[test]
    fn variables_are_looked_for_and_numbers_are_not() {
        assert_eq!(Predefined::Value(5).resolve(|_| 7), 5);
        assert_eq!(Predefined::Symbol(c"it").resolve(|name| usize::from(name == c"it")), 1);
    }
}
