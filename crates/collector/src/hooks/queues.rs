//! Message queues, of POSIX and of System V.

use core::ffi::{c_char, c_int, c_long, c_uint, c_void};

use libc::{mqd_t, size_t, ssize_t, timespec};

use super::family::{errno_of, operations};
use crate::operation::Outcome;

operations! {
    mq_receive(queue: mqd_t, message: *mut c_char, length: size_t, priority: *mut c_uint) -> ssize_t, or -1
        => QueueReceive, (queue, 0), Outcome::bytes;
    mq_timedreceive(queue: mqd_t, message: *mut c_char, length: size_t, priority: *mut c_uint, until: *const timespec)
        -> ssize_t, or -1 => QueueTimedReceive, (queue, 0), Outcome::bytes;
    mq_send(queue: mqd_t, message: *const c_char, length: size_t, priority: c_uint) -> c_int, or -1
        => QueueSend, (queue, 0), errno_of;
    mq_timedsend(queue: mqd_t, message: *const c_char, length: size_t, priority: c_uint, until: *const timespec)
        -> c_int, or -1 => QueueTimedSend, (queue, 0), errno_of;
    msgrcv(queue: c_int, message: *mut c_void, length: size_t, kind: c_long, flags: c_int) -> ssize_t, or -1
        => MessageReceive, (queue, 0), Outcome::bytes;
    msgsnd(queue: c_int, message: *const c_void, length: size_t, flags: c_int) -> c_int, or -1
        => MessageSend, (queue, 0), errno_of;
}
