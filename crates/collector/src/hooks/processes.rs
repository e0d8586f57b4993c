//! Waiting for child processes.

use core::ffi::{c_char, c_int, c_void};

use libc::{FILE, id_t, idtype_t, pid_t};

use super::family::{errno_of, operations};

operations! {
    wait(status: *mut c_int) -> pid_t, or -1 => WaitAny, (0, 0), errno_of;
    waitpid(process: pid_t, status: *mut c_int, options: c_int) -> pid_t, or -1
        => WaitProcess, (process, 0), errno_of;
    wait3(status: *mut c_int, options: c_int, usage: *mut c_void) -> pid_t, or -1 => WaitUsage, (0, 0), errno_of;
    wait4(process: pid_t, status: *mut c_int, options: c_int, usage: *mut c_void) -> pid_t, or -1
        => WaitProcessUsage, (process, 0), errno_of;
    waitid(kind: idtype_t, process: id_t, info: *mut c_void, options: c_int) -> c_int, or -1
        => WaitId, (process, 0), errno_of;
    system(command: *const c_char) -> c_int, or -1 => System, (0, 0), errno_of;
    pclose(stream: *mut FILE) -> c_int, or -1 => ClosePipeStream, (stream, 0), errno_of;
}
