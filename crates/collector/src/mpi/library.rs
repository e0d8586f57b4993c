//! The MPI library of the process: its constants, and those of its functions that we call ourselves.
//!
//! Found out at the first call of a hook: by then the library's own constructors have run. Of a library that
//! is none of the known families nothing is assumed: its calls are timed, and that is all.

use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use proust_mpi_abi::abi::{Abi, SUCCESS};
use proust_mpi_abi::detect::{self, StandardVersion, marks};
use proust_mpi_abi::handle::Predefined;

use crate::interpose::object::{self, Name, Object};

/// What is known of the library.
#[derive(Debug)]
pub struct Library {
    /// Its constants and layouts.
    pub abi: &'static Abi,
    /// `MPI_COMM_WORLD`
    pub comm_world: usize,
    /// `MPI_COMM_SELF`
    pub comm_self: usize,
    /// `MPI_COMM_NULL`
    pub comm_null: usize,
    /// `MPI_REQUEST_NULL`
    pub request_null: usize,
    /// `MPI_MESSAGE_NO_PROC`
    pub message_no_proc: usize,
    byte: usize,
    type_size: usize,
    type_size_x: usize,
    get_elements_x: usize,
    test_cancelled: usize,
    comm_rank: usize,
    comm_size: usize,
    comm_remote_size: usize,
    comm_test_inter: usize,
    comm_group: usize,
    comm_remote_group: usize,
    group_free: usize,
    group_translate_ranks: usize,
    /// The group of `MPI_COMM_WORLD`, from the end of `MPI_Init` to the begin of `MPI_Finalize`; 0 = there is
    /// none.
    world_group: AtomicUsize,
}

/// 0 = nothing is known yet.
static STATE: AtomicU64 = AtomicU64::new(0);
const UNKNOWN: u64 = 1;
const KNOWN: u64 = 2;

static LIBRARY: AtomicPtr<Library> = AtomicPtr::new(core::ptr::null_mut());

/// The library that the hooks belong to lies at this address; 0 = there is none.
static AT: AtomicU64 = AtomicU64::new(0);

/// The hooks belong to the library that `address` lies in, from now on.
pub fn is_at(address: u64) {
    AT.store(address, Ordering::Release);
    STATE.store(0, Ordering::Release);
}

/// The library, if it is one of the known families. For hooks.
#[inline]
pub fn get() -> Option<&'static Library> {
    match STATE.load(Ordering::Acquire) {
        // SAFETY: stored before the state; never freed.
        KNOWN => unsafe { LIBRARY.load(Ordering::Acquire).as_ref() },
        UNKNOWN => None,
        _ => examine(),
    }
}

#[cold]
#[inline(never)]
fn examine() -> Option<&'static Library> {
    let object = object::at(AT.load(Ordering::Acquire))?;
    let found = Library::of(&object);
    let state = if found.is_some() { KNOWN } else { UNKNOWN };
    if let Some(library) = found {
        // Another thread may do the same: both find the same.
        LIBRARY.store(Box::into_raw(Box::new(library)), Ordering::Release);
    }
    STATE.store(state, Ordering::Release);
    // SAFETY: as in `get`.
    unsafe { if state == KNOWN { LIBRARY.load(Ordering::Acquire).as_ref() } else { None } }
}

/// The address of what the object defines under this name; 0 = nothing.
fn own(object: &Object, name: &'static CStr) -> usize {
    let definition = object.tables().and_then(|tables| tables.definition(&Name::new(name, c""), None));
    definition.map_or(0, |definition| definition.address as usize)
}

/// The address of one of the library's own functions; 0 = it has none of this name.
pub fn function(name: &'static CStr) -> usize {
    object::at(AT.load(Ordering::Acquire)).map_or(0, |object| own(&object, name))
}

impl Library {
    fn of(object: &Object) -> Option<Library> {
        let version = own(object, marks::STANDARD_VERSION);
        let standard_major = (version != 0).then(|| {
            let (mut major, mut minor) = (-1, -1);
            // SAFETY: the function of this name has this type, and may be called at any time.
            unsafe {
                core::mem::transmute::<usize, StandardVersion>(version)(&raw mut major, &raw mut minor)
            };
            major
        });
        let family = detect::family(
            standard_major,
            own(object, marks::OPEN_MPI) != 0,
            own(object, marks::MPICH) != 0,
        )?;
        let abi = Abi::of(family);
        // A variable of which the program has a copy is the program's; in a library that was loaded for
        // somebody alone it is the library's own.
        let variable = |name: &'static CStr| {
            // SAFETY: a C string.
            let global = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as usize;
            if global == 0 { own(object, name) } else { global }
        };
        let handle = |predefined: Predefined| predefined.resolve(variable);
        let library = Library {
            abi,
            comm_world: handle(abi.comm_world),
            comm_self: handle(abi.comm_self),
            comm_null: handle(abi.comm_null),
            request_null: handle(abi.request_null),
            message_no_proc: handle(abi.message_no_proc),
            byte: handle(abi.byte),
            type_size: own(object, c"PMPI_Type_size"),
            type_size_x: own(object, c"PMPI_Type_size_x"),
            get_elements_x: own(object, c"PMPI_Get_elements_x"),
            test_cancelled: own(object, c"PMPI_Test_cancelled"),
            comm_rank: own(object, c"PMPI_Comm_rank"),
            comm_size: own(object, c"PMPI_Comm_size"),
            comm_remote_size: own(object, c"PMPI_Comm_remote_size"),
            comm_test_inter: own(object, c"PMPI_Comm_test_inter"),
            comm_group: own(object, c"PMPI_Comm_group"),
            comm_remote_group: own(object, c"PMPI_Comm_remote_group"),
            group_free: own(object, c"PMPI_Group_free"),
            group_translate_ranks: own(object, c"PMPI_Group_translate_ranks"),
            world_group: AtomicUsize::new(0),
        };
        let needed = [
            library.comm_world,
            library.comm_self,
            library.comm_null,
            library.request_null,
            library.byte,
            library.type_size,
            library.test_cancelled,
            library.comm_rank,
            library.comm_size,
            library.comm_remote_size,
            library.comm_test_inter,
            library.comm_group,
            library.comm_remote_group,
            library.group_free,
            library.group_translate_ranks,
        ];
        // A lookup that finds nothing leaves a message for the program.
        // SAFETY: forgets the calling thread's message.
        unsafe { libc::dlerror() };
        needed.iter().all(|&address| address != 0).then_some(library)
    }

    /// The datatype of bytes.
    pub fn byte(&self) -> usize {
        self.byte
    }

    /// Calls a function that takes a handle and gives a number.
    ///
    /// # Safety
    /// `function` is such a function's address, and the handle is valid.
    unsafe fn ask(function: usize, handle: usize) -> Option<i32> {
        let mut answer: c_int = 0;
        // SAFETY: the caller's promise.
        let result = unsafe {
            core::mem::transmute::<usize, unsafe extern "C" fn(usize, *mut c_int) -> c_int>(function)(
                handle,
                &raw mut answer,
            )
        };
        (result == SUCCESS).then_some(answer)
    }

    /// Bytes of `count` elements of a datatype, which a call has just taken.
    #[inline]
    pub fn bytes(&self, count: i64, datatype: usize) -> u64 {
        if count <= 0 {
            return 0;
        }
        // SAFETY: the library accepted the datatype in the call that has just returned.
        let size = unsafe { Self::ask(self.type_size, datatype) };
        let size = match size {
            Some(size @ 0..) => size as u64,
            _ => self.large_size(datatype),
        };
        size.saturating_mul(count as u64)
    }

    /// Bytes of a datatype whose size is no 32-bit number.
    #[cold]
    fn large_size(&self, datatype: usize) -> u64 {
        if self.type_size_x == 0 {
            return 0;
        }
        let mut size: i64 = 0;
        // SAFETY: the function of this name; as above.
        unsafe {
            core::mem::transmute::<usize, unsafe extern "C" fn(usize, *mut i64) -> c_int>(self.type_size_x)(
                datatype,
                &raw mut size,
            );
        }
        size.max(0) as u64
    }

    /// The bytes that a receive got.
    ///
    /// # Safety
    /// `status` is one that a receive has filled in.
    #[inline]
    pub unsafe fn received_bytes(&self, status: *const u8) -> u64 {
        // SAFETY: the caller's promise.
        match unsafe { self.abi.received_bytes(status) } {
            Some(bytes) => bytes,
            // SAFETY: as above.
            None => unsafe { self.elements(status) },
        }
    }

    unsafe fn elements(&self, status: *const u8) -> u64 {
        if self.get_elements_x == 0 {
            return 0;
        }
        let mut bytes: i64 = 0;
        type Elements = unsafe extern "C" fn(*const u8, usize, *mut i64) -> c_int;
        // SAFETY: the function of this name, with a status, a datatype and a place for the answer.
        unsafe {
            core::mem::transmute::<usize, Elements>(self.get_elements_x)(status, self.byte, &raw mut bytes);
        }
        bytes.max(0) as u64
    }

    /// Whether the request behind a status was cancelled.
    ///
    /// # Safety
    /// As for [`Library::received_bytes`].
    pub unsafe fn is_cancelled(&self, status: *const u8) -> bool {
        // SAFETY: the function takes the address of a status as its first word.
        unsafe { Self::ask(self.test_cancelled, status as usize) == Some(1) }
    }

    /// The calling process's rank in a communicator.
    pub fn rank(&self, communicator: usize) -> Option<u32> {
        // SAFETY: callers have a valid handle from the library.
        unsafe { Self::ask(self.comm_rank, communicator) }.and_then(|rank| u32::try_from(rank).ok())
    }

    /// Its members, those of the caller's side.
    pub fn size(&self, communicator: usize) -> Option<u32> {
        // SAFETY: as above.
        unsafe { Self::ask(self.comm_size, communicator) }.and_then(|size| u32::try_from(size).ok())
    }

    /// Members of the other side; 0 = it is no intercommunicator.
    pub fn remote_size(&self, communicator: usize) -> u32 {
        // SAFETY: as above.
        if unsafe { Self::ask(self.comm_test_inter, communicator) } != Some(1) {
            return 0;
        }
        // SAFETY: as above.
        unsafe { Self::ask(self.comm_remote_size, communicator) }.map_or(0, |size| size.max(0) as u32)
    }

    unsafe fn group(&self, function: usize, communicator: usize) -> Option<usize> {
        let mut group: usize = 0;
        type Group = unsafe extern "C" fn(usize, *mut usize) -> c_int;
        // SAFETY: one of the two functions that give a communicator's group; a handle is at most a word.
        let result = unsafe { core::mem::transmute::<usize, Group>(function)(communicator, &raw mut group) };
        (result == SUCCESS).then(|| self.abi.passed(group))
    }

    fn free_group(&self, mut group: usize) {
        type Free = unsafe extern "C" fn(*mut usize) -> c_int;
        // SAFETY: a group that was made here, and is not used any more.
        unsafe { core::mem::transmute::<usize, Free>(self.group_free)(&raw mut group) };
    }

    /// The library has started: the world's group can be used.
    pub fn begin_world(&self) {
        // SAFETY: the library has been initialised.
        if let Some(group) = unsafe { self.group(self.comm_group, self.comm_world) } {
            self.world_group.store(group, Ordering::Release);
        }
    }

    /// The library is about to end: nothing of ours is left in it.
    pub fn end_world(&self) {
        let group = self.world_group.swap(0, Ordering::AcqRel);
        if group != 0 {
            self.free_group(group);
        }
    }

    /// World ranks of members of a communicator, of the caller's side or of the other one: for each number in
    /// `ranks` its world rank is stored to `world`. False if that is not known.
    pub fn world_ranks(
        &self,
        communicator: usize,
        is_remote: bool,
        ranks: &[c_int],
        world: &mut [c_int],
    ) -> bool {
        let all = self.world_group.load(Ordering::Acquire);
        let function = if is_remote { self.comm_remote_group } else { self.comm_group };
        if all == 0 || ranks.len() != world.len() {
            return false;
        }
        // SAFETY: callers have a valid handle.
        let Some(group) = (unsafe { self.group(function, communicator) }) else { return false };
        type Translate = unsafe extern "C" fn(usize, c_int, *const c_int, usize, *mut c_int) -> c_int;
        // SAFETY: the function of this name, two groups, and arrays of so many numbers.
        let result = unsafe {
            core::mem::transmute::<usize, Translate>(self.group_translate_ranks)(
                group,
                ranks.len() as c_int,
                ranks.as_ptr(),
                all,
                world.as_mut_ptr(),
            )
        };
        self.free_group(group);
        result == SUCCESS && world.iter().all(|&rank| rank >= 0)
    }
}

/// In a forked child: it must not use the library.
pub fn forget_world() {
    // SAFETY: as in `get`.
    if let Some(library) = unsafe { LIBRARY.load(Ordering::Acquire).as_ref() } {
        library.world_group.store(0, Ordering::Release);
    }
}

/// A handle that a call has written.
///
/// # Safety
/// `place` is where the library has written a handle.
pub unsafe fn written(abi: &Abi, place: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe { abi.handle_at(place as *const u8, 0) }
}

/// A null pointer has no handle behind it.
pub fn is_place(place: usize) -> bool {
    !(place as *const c_void).is_null()
}
