//! Waiting for descriptors: poll, select, epoll; and for connections.

use core::ffi::{c_int, c_void};

use libc::{fd_set, nfds_t, pollfd, sigset_t, size_t, sockaddr, socklen_t, timespec, timeval};

use super::family::{errno_of, operations};

operations! {
    poll(descriptors: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int, or -1 => Poll, (0, 0), errno_of;
    __poll_chk(descriptors: *mut pollfd, count: nfds_t, timeout: c_int, bytes: size_t) -> c_int, or -1
        => Poll, (0, 0), errno_of;
    ppoll(descriptors: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t) -> c_int, or -1
        => SignalPoll, (0, 0), errno_of;
    __ppoll_chk(descriptors: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t, bytes: size_t)
        -> c_int, or -1 => SignalPoll, (0, 0), errno_of;
    select(count: c_int, read: *mut fd_set, write: *mut fd_set, other: *mut fd_set, timeout: *mut timeval)
        -> c_int, or -1 => Select, (0, 0), errno_of;
    pselect(count: c_int, read: *mut fd_set, write: *mut fd_set, other: *mut fd_set, timeout: *const timespec,
        mask: *const sigset_t) -> c_int, or -1 => SignalSelect, (0, 0), errno_of;
    epoll_wait(poll: c_int, events: *mut c_void, most: c_int, timeout: c_int) -> c_int, or -1
        => EpollWait, (poll, 0), errno_of;
    epoll_pwait(poll: c_int, events: *mut c_void, most: c_int, timeout: c_int, mask: *const sigset_t) -> c_int, or -1
        => EpollSignalWait, (poll, 0), errno_of;
    epoll_pwait2(poll: c_int, events: *mut c_void, most: c_int, timeout: *const timespec, mask: *const sigset_t)
        -> c_int, or -1 => EpollSignalWait2, (poll, 0), errno_of;
    accept(socket: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int, or -1
        => Accept, (socket, 0), errno_of;
    accept4(socket: c_int, address: *mut sockaddr, length: *mut socklen_t, flags: c_int) -> c_int, or -1
        => Accept4, (socket, 0), errno_of;
}
