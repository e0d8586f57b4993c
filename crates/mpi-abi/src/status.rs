//! The fields of a status.

use crate::abi::Abi;

/// Where a status has its fields, in bytes from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusLayout {
    /// Bytes of a whole status.
    pub bytes: usize,
    /// `MPI_SOURCE`
    pub source: usize,
    /// `MPI_TAG`
    pub tag: usize,
    /// `MPI_ERROR`
    pub error: usize,
    /// The number of bytes received.
    pub count: Count,
}

/// How the number of bytes received is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// A word there.
    Word(usize),
    /// The lower 32 bits there, and above the lowest bit of the second place the others.
    LowAndHigh(usize, usize),
    /// The interface does not say: `MPI_Get_elements_x` with `MPI_BYTE` must be asked.
    Asked,
}

/// The largest status of all interfaces, in bytes.
pub const MOST_BYTES: usize = 32;

impl Abi {
    /// A number of a status.
    ///
    /// # Safety
    /// `status` is one of this interface's, and `offset` that of a field.
    #[inline]
    unsafe fn field(status: *const u8, offset: usize) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { status.add(offset).cast::<i32>().read_unaligned() }
    }

    /// `MPI_SOURCE`
    ///
    /// # Safety
    /// `status` is one of this interface's.
    #[inline]
    pub unsafe fn source(&self, status: *const u8) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { Abi::field(status, self.status.source) }
    }

    /// `MPI_TAG`
    ///
    /// # Safety
    /// As for [`Abi::source`].
    #[inline]
    pub unsafe fn tag(&self, status: *const u8) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { Abi::field(status, self.status.tag) }
    }

    /// `MPI_ERROR`
    ///
    /// # Safety
    /// As for [`Abi::source`].
    #[inline]
    pub unsafe fn error(&self, status: *const u8) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { Abi::field(status, self.status.error) }
    }

    /// The bytes received, where the status shows them; None where MPI must be asked.
    ///
    /// # Safety
    /// As for [`Abi::source`].
    #[inline]
    pub unsafe fn received_bytes(&self, status: *const u8) -> Option<u64> {
        // SAFETY: the caller's promise.
        unsafe {
            match self.status.count {
                Count::Word(offset) => Some(status.add(offset).cast::<u64>().read_unaligned()),
                Count::LowAndHigh(low, high) => {
                    let (low, high) = (Abi::field(status, low) as u32, Abi::field(status, high) as u32);
                    Some(u64::from(low) | u64::from(high >> 1) << 32)
                }
                Count::Asked => None,
            }
        }
    }

    /// The status at position `index` of an array.
    ///
    /// # Safety
    /// The array has such an element.
    #[inline]
    pub unsafe fn status_at(&self, array: *const u8, index: usize) -> *const u8 {
        // SAFETY: the caller's promise.
        unsafe { array.add(index * self.status.bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::{MPICH, OPEN_MPI, STANDARD};

    #[test]
    fn a_large_count_is_read_from_both_halves() {
        let status = [5_i32, 0b111, 3, 4, 0, 0, 0, 0];
        let status = status.as_ptr().cast::<u8>();
        // SAFETY: as many bytes as the largest status has.
        unsafe {
            assert_eq!(MPICH.received_bytes(status), Some(5 + (3 << 32)));
            assert_eq!((MPICH.source(status), MPICH.tag(status)), (3, 4));
            assert_eq!((OPEN_MPI.source(status), OPEN_MPI.tag(status)), (5, 7));
            assert_eq!(STANDARD.received_bytes(status), None);
            assert_eq!(MPICH.status_at(status, 1), status.add(20));
        }
        assert!([&MPICH, &OPEN_MPI, &STANDARD].iter().all(|abi| abi.status.bytes <= MOST_BYTES));
    }
}
