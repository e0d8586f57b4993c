//! What hooks of calls that complete requests keep of their arguments: these calls overwrite the handles.

use core::mem::MaybeUninit;

use proust_mpi_abi::abi::Abi;
use proust_mpi_abi::status::MOST_BYTES;

use crate::arena;

/// Requests for which a hook's own frame has room; of more they are kept in the collector's memory.
const FEW: usize = 16;

/// Handles as they were before a call, which overwrites them, and statuses where the program wants none.
pub struct Kept {
    count: usize,
    few: [MaybeUninit<usize>; FEW],
    many: *mut usize,
    few_statuses: [MaybeUninit<[u64; MOST_BYTES / 8]>; FEW],
    many_statuses: *mut u8,
}

impl Kept {
    /// Makes one that keeps nothing of what lies there. The arrays stay as they are, since a call that tests
    /// one request must not fill half a kilobyte: of them only what was written is read.
    #[inline(always)]
    pub fn lay(place: &mut MaybeUninit<Kept>) -> &mut Kept {
        let kept = place.as_mut_ptr();
        // SAFETY: fields of this very value; all others are arrays of numbers, of any value.
        unsafe {
            (&raw mut (*kept).count).write(0);
            (&raw mut (*kept).many).write(core::ptr::null_mut());
            (&raw mut (*kept).many_statuses).write(core::ptr::null_mut());
            &mut *kept
        }
    }

    /// Keeps the handles of an array of `count`.
    ///
    /// # Safety
    /// The array has so many.
    #[inline]
    pub unsafe fn keep(&mut self, abi: &Abi, array: usize, count: usize) {
        self.count = count;
        let place = if count <= FEW {
            self.few.as_mut_ptr().cast()
        } else {
            self.many = arena::pages(count * size_of::<usize>()).cast();
            self.many
        };
        if place.is_null() {
            // Nothing is known of them.
            self.count = 0;
            return;
        }
        for index in 0..count {
            // SAFETY: the caller's promise; there is room for so many.
            unsafe { place.add(index).write(abi.handle_at(array as *const u8, index)) };
        }
    }

    /// Keeps one handle.
    pub fn keep_one(&mut self, handle: usize) {
        self.few[0] = MaybeUninit::new(handle);
        self.count = 1;
    }

    /// A place for so many statuses; the one given where there is no memory for them.
    #[inline]
    pub fn statuses(&mut self, abi: &Abi, given: usize, is_none: bool, count: usize) -> usize {
        if !is_none || count == 0 {
            return given;
        }
        if count <= FEW {
            return self.few_statuses.as_mut_ptr() as usize;
        }
        self.many_statuses = arena::pages(count * abi.status.bytes);
        if self.many_statuses.is_null() { given } else { self.many_statuses as usize }
    }

    /// Of so many requests the handles are known.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// One of the handles as it was; 0 = not known.
    #[inline]
    pub fn handle(&self, index: usize) -> usize {
        if index >= self.count {
            0
        } else if self.many.is_null() {
            // SAFETY: written by `keep`, as all below `count`.
            unsafe { self.few[index].assume_init() }
        } else {
            // SAFETY: memory of `count` handles.
            unsafe { *self.many.add(index) }
        }
    }

    /// Gives memory back.
    pub fn end(&self, abi: &Abi) {
        // SAFETY: taken with these sizes, and not used any more.
        unsafe {
            if !self.many.is_null() {
                arena::give_back(self.many.cast(), self.count * size_of::<usize>());
            }
            if !self.many_statuses.is_null() {
                arena::give_back(self.many_statuses, self.count * abi.status.bytes);
            }
        }
    }
}

/// The statuses that a call was given.
#[derive(Clone, Copy)]
pub struct Statuses {
    /// Where they are.
    pub place: usize,
    /// Whether nothing can be read there.
    pub is_none: bool,
}

impl Statuses {
    /// One of them; null if it cannot be read.
    #[inline]
    pub fn at(self, abi: &Abi, index: usize) -> *const u8 {
        if self.is_none {
            return core::ptr::null();
        }
        // SAFETY: the call had room for one for each request.
        unsafe { abi.status_at(self.place as *const u8, index) }
    }
}
