//! Waiting for descriptors: poll, select, epoll; and for connections.

use core::ffi::{c_int, c_void};

use libc::{fd_set, nfds_t, pollfd, sigset_t, size_t, sockaddr, socklen_t, timespec, timeval};

use super::family::{errno_of, operations};

operations! {
    poll(
        descriptors: *mut pollfd as inouts(pollfd, count), count: nfds_t as number(count),
        timeout: c_int as number(milliseconds),
    ) -> c_int, or -1 => Poll, (0, 0), errno_of;
    __poll_chk(
        descriptors: *mut pollfd as inouts(pollfd, count), count: nfds_t as number(count),
        timeout: c_int as number(milliseconds), bytes: size_t as number(size),
    ) -> c_int, or -1
        => Poll, (0, 0), errno_of;
    ppoll(
        descriptors: *mut pollfd as inouts(pollfd, count), count: nfds_t as number(count),
        timeout: *const timespec as input(timespec), mask: *const sigset_t as input(sigset),
    ) -> c_int, or -1
        => SignalPoll, (0, 0), errno_of;
    __ppoll_chk(
        descriptors: *mut pollfd as inouts(pollfd, count), count: nfds_t as number(count),
        timeout: *const timespec as input(timespec), mask: *const sigset_t as input(sigset),
        bytes: size_t as number(size),
    )
        -> c_int, or -1 => SignalPoll, (0, 0), errno_of;
    select(
        count: c_int as number(count), read: *mut fd_set as inout(fdset),
        write: *mut fd_set as inout(fdset), other: *mut fd_set as inout(fdset),
        timeout: *mut timeval as inout(timeval),
    )
        -> c_int, or -1 => Select, (0, 0), errno_of;
    pselect(
        count: c_int as number(count), read: *mut fd_set as inout(fdset),
        write: *mut fd_set as inout(fdset), other: *mut fd_set as inout(fdset),
        timeout: *const timespec as input(timespec), mask: *const sigset_t as input(sigset),
    ) -> c_int, or -1 => SignalSelect, (0, 0), errno_of;
    epoll_wait(
        poll: c_int as fd, events: *mut c_void as outputs(epoll_event, most), most: c_int as number(count),
        timeout: c_int as number(milliseconds),
    ) -> c_int, or -1
        => EpollWait, (poll, 0), errno_of;
    epoll_pwait(
        poll: c_int as fd, events: *mut c_void as outputs(epoll_event, most), most: c_int as number(count),
        timeout: c_int as number(milliseconds), mask: *const sigset_t as input(sigset),
    ) -> c_int, or -1
        => EpollSignalWait, (poll, 0), errno_of;
    #[since("2.35")]
    epoll_pwait2(
        poll: c_int as fd, events: *mut c_void as outputs(epoll_event, most), most: c_int as number(count),
        timeout: *const timespec as input(timespec), mask: *const sigset_t as input(sigset),
    )
        -> c_int, or -1 => EpollSignalWait2, (poll, 0), errno_of;
    accept(
        socket: c_int as fd, address: *mut sockaddr as output(sockaddr),
        length: *mut socklen_t as inout(socklen),
    ) -> c_int, or -1
        => Accept, (socket, 0), errno_of;
    accept4(
        socket: c_int as fd, address: *mut sockaddr as output(sockaddr),
        length: *mut socklen_t as inout(socklen), flags: c_int as number(flags),
    ) -> c_int, or -1
        => Accept4, (socket, 0), errno_of;
}
