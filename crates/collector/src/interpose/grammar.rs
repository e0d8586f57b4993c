//! What an argument of a hooked function means to the function: which values it may have, and whether the
//! function reads or writes the memory it points to.
//!
//! | grammar | the argument is |
//! |---|---|
//! | `fd` | a descriptor |
//! | `dirfd` | a folder's descriptor, from which a path begins, or `AT_FDCWD` |
//! | `stream`, `folder` | a `FILE *`, a `DIR *` |
//! | `path`, `text`, `format`, `mode`, `command` | a C string: a file's name, any, one for printf or scanf, one for fopen, one for a shell |
//! | `bytes_in(n, …)`, `bytes_out(n, …)` | memory that is read, or written, as long as the product of the arguments named says |
//! | `input(what)`, `output(what)`, `inout(what)` | a structure that is read, written, or both |
//! | `inputs(what, n)`, `outputs(what, n)`, `inouts(what, n)` | as many of them as the argument named says |
//! | `object(what)` | something that was made before and is used in place: a mutex, a semaphore, … |
//! | `number(what)` | a number |
//! | `strings` | a list of C strings that a null pointer ends |
//! | `function(what)` | a function of the program |
//! | `opaque(what)` | an address that is only passed on, or compared |
//! | `word` | a number or an address, by another argument |
//! | `list`, `more` | a `va_list`; what follows the named arguments |

/// A type of numbers.
pub trait Number {}
/// A type of addresses.
pub trait Address {}
/// A type of addresses of what may be written.
pub trait Place: Address {}
/// A type of functions.
pub trait Function {}
/// Stands for arguments that have no type.
pub trait Rest {}

macro_rules! numbers {
    ($($type:ty)*) => { $( impl Number for $type {} )* };
}
numbers! { i32 u32 i64 u64 isize usize }

impl<T: ?Sized> Address for *const T {}
impl<T: ?Sized> Address for *mut T {}
impl<T: ?Sized> Place for *mut T {}

impl Function for crate::real::StartRoutine {}
impl Function for crate::real::C11Routine {}
impl Function for extern "C-unwind" fn() {}
impl Rest for () {}

/// Compiles for numbers only.
pub const fn number<T: Number>() {}
/// Compiles for addresses only.
pub const fn address<T: Address>() {}
/// Compiles for addresses of what may be written only.
pub const fn place<T: Place>() {}
/// Compiles for functions only.
pub const fn function<T: Function>() {}

/// Compiles for what represents arguments that have no type.
pub const fn rest<T: Rest>() {}

/// Fails the build unless `name` is among the names of a function's arguments.
pub const fn is_argument(arguments: &[&str], name: &str) {
    let mut index = 0;
    while index < arguments.len() {
        if is_same(arguments[index].as_bytes(), name.as_bytes()) {
            return;
        }
        index += 1;
    }
    panic!("a grammar names an argument that the function does not have");
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut index = 0;
    while index < one.len() && index < other.len() && one[index] == other[index] {
        index += 1;
    }
    index == one.len() && index == other.len()
}

/// Fails the build unless an argument of this type can have this grammar.
macro_rules! check {
    ($all:ident, $type:ty, fd) => { $crate::interpose::grammar::number::<$type>() };
    ($all:ident, $type:ty, dirfd) => { $crate::interpose::grammar::number::<$type>() };
    ($all:ident, $type:ty, word) => { $crate::interpose::grammar::number::<$type>() };
    ($all:ident, $type:ty, number($what:ident)) => {
        $crate::interpose::grammar::number_of!($what);
        $crate::interpose::grammar::number::<$type>()
    };
    ($all:ident, $type:ty, stream) => { $crate::interpose::grammar::place::<$type>() };
    ($all:ident, $type:ty, folder) => { $crate::interpose::grammar::place::<$type>() };
    ($all:ident, $type:ty, path) => { $crate::interpose::grammar::address::<$type>() };
    ($all:ident, $type:ty, text) => { $crate::interpose::grammar::address::<$type>() };
    ($all:ident, $type:ty, format) => { $crate::interpose::grammar::address::<$type>() };
    ($all:ident, $type:ty, mode) => { $crate::interpose::grammar::address::<$type>() };
    ($all:ident, $type:ty, command) => { $crate::interpose::grammar::address::<$type>() };
    ($all:ident, $type:ty, strings) => { $crate::interpose::grammar::address::<$type>() };
    ($all:ident, $type:ty, list) => { $crate::interpose::grammar::place::<$type>() };
    ($all:ident, $type:ty, more) => { $crate::interpose::grammar::rest::<$type>() };
    ($all:ident, $type:ty, opaque($what:ident)) => { $crate::interpose::grammar::address::<$type>() };
    ($all:ident, $type:ty, function($what:ident)) => { $crate::interpose::grammar::function::<$type>() };
    ($all:ident, $type:ty, object($what:ident)) => {
        $crate::interpose::grammar::object!($what);
        $crate::interpose::grammar::place::<$type>()
    };
    ($all:ident, $type:ty, bytes_in($($length:ident),+)) => {
        $( $crate::interpose::grammar::is_argument($all, stringify!($length)); )+
        $crate::interpose::grammar::address::<$type>()
    };
    ($all:ident, $type:ty, bytes_out($($length:ident),+)) => {
        $( $crate::interpose::grammar::is_argument($all, stringify!($length)); )+
        $crate::interpose::grammar::place::<$type>()
    };
    ($all:ident, $type:ty, input($what:ident)) => {
        $crate::interpose::grammar::structure!($what);
        $crate::interpose::grammar::address::<$type>()
    };
    ($all:ident, $type:ty, output($what:ident)) => {
        $crate::interpose::grammar::structure!($what);
        $crate::interpose::grammar::place::<$type>()
    };
    ($all:ident, $type:ty, inout($what:ident)) => {
        $crate::interpose::grammar::check!($all, $type, output($what))
    };
    ($all:ident, $type:ty, inputs($what:ident, $count:ident)) => {
        $crate::interpose::grammar::is_argument($all, stringify!($count));
        $crate::interpose::grammar::check!($all, $type, input($what))
    };
    ($all:ident, $type:ty, outputs($what:ident, $count:ident)) => {
        $crate::interpose::grammar::is_argument($all, stringify!($count));
        $crate::interpose::grammar::check!($all, $type, output($what))
    };
    ($all:ident, $type:ty, inouts($what:ident, $count:ident)) => {
        $crate::interpose::grammar::is_argument($all, stringify!($count));
        $crate::interpose::grammar::check!($all, $type, output($what))
    };
}
pub(crate) use check;

/// Compiles for these words only.
macro_rules! words {
    ($macro:ident: $($word:ident)*) => {
        macro_rules! $macro {
            $( ($word) => {}; )*
        }
        pub(crate) use $macro;
    };
}

words! { number_of:
    size count offset flags permissions signal clock how whence seconds milliseconds microseconds process user
    group character handler set queue kind thread option status length call capacity iterations
}
words! { structure:
    timespec timeval sigset sigaction siginfo offset status usage pollfd fdset epoll_event sockaddr socklen
    iovec_in iovec_out msghdr_in msghdr_out mmsghdr_in mmsghdr_out sembuf group fpos line capacity process
    thread result
    priority message attributes actions signal number address iteration stack vector
}
words! { object:
    mutex rwlock spinlock barrier condition semaphore mtx cnd once omp_lock section
}
