//! Message queues, of POSIX and of System V.

use core::ffi::{c_char, c_int, c_long, c_uint, c_void};

use libc::{mqd_t, size_t, ssize_t, timespec};

use super::family::{errno_of, operations};
use crate::operation::Outcome;

operations! {
    mq_receive(
        queue: mqd_t as fd, message: *mut c_char as bytes_out(length), length: size_t as number(size),
        priority: *mut c_uint as output(priority),
    ) -> ssize_t, or -1
        => QueueReceive, (queue, 0), Outcome::bytes;
    mq_timedreceive(
        queue: mqd_t as fd, message: *mut c_char as bytes_out(length), length: size_t as number(size),
        priority: *mut c_uint as output(priority), until: *const timespec as input(timespec),
    )
        -> ssize_t, or -1 => QueueTimedReceive, (queue, 0), Outcome::bytes;
    mq_send(
        queue: mqd_t as fd, message: *const c_char as bytes_in(length), length: size_t as number(size),
        priority: c_uint as number(option),
    ) -> c_int, or -1
        => QueueSend, (queue, 0), errno_of;
    mq_timedsend(
        queue: mqd_t as fd, message: *const c_char as bytes_in(length), length: size_t as number(size),
        priority: c_uint as number(option), until: *const timespec as input(timespec),
    )
        -> c_int, or -1 => QueueTimedSend, (queue, 0), errno_of;
    msgrcv(
        queue: c_int as number(queue), message: *mut c_void as output(message),
        length: size_t as number(size), kind: c_long as number(option), flags: c_int as number(flags),
    ) -> ssize_t, or -1
        => MessageReceive, (queue, 0), Outcome::bytes;
    msgsnd(
        queue: c_int as number(queue), message: *const c_void as input(message),
        length: size_t as number(size), flags: c_int as number(flags),
    ) -> c_int, or -1
        => MessageSend, (queue, 0), errno_of;
}
