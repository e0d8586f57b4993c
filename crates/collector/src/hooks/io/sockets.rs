//! Sending, receiving and connecting.

use core::ffi::{c_int, c_uint, c_void};

use libc::{mmsghdr, msghdr, size_t, sockaddr, socklen_t, ssize_t, timespec};

use super::bracket::{Descriptor, io};
use crate::hooks::family::errno_of;
use crate::operation::Outcome;

/// Of functions that return how many messages they moved.
fn messages(result: c_int, messages: *const mmsghdr) -> Outcome {
    let Ok(count) = usize::try_from(result) else { return errno_of(result) };
    // SAFETY: the real function has filled in so many messages of the program's.
    let bytes = (0..count).map(|index| unsafe { u64::from((*messages.add(index)).msg_len) }).sum();
    Outcome { bytes, error: 0 }
}

io! {
    recv(
        socket: c_int as fd, to: *mut c_void as bytes_out(size), size: size_t as number(size),
        flags: c_int as number(flags),
    ) -> ssize_t, or -1
        => Receive, Descriptor(socket), Outcome::bytes;
    __recv_chk(
        socket: c_int as fd, to: *mut c_void as bytes_out(size), size: size_t as number(size),
        room: size_t as number(size), flags: c_int as number(flags),
    ) -> ssize_t, or -1
        => Receive, Descriptor(socket), Outcome::bytes;
    recvfrom(
        socket: c_int as fd, to: *mut c_void as bytes_out(size), size: size_t as number(size),
        flags: c_int as number(flags), from: *mut sockaddr as output(sockaddr),
        length: *mut socklen_t as inout(socklen),
    ) -> ssize_t, or -1 => ReceiveFrom, Descriptor(socket), Outcome::bytes;
    __recvfrom_chk(
        socket: c_int as fd, to: *mut c_void as bytes_out(size), size: size_t as number(size),
        room: size_t as number(size), flags: c_int as number(flags),
        from: *mut sockaddr as output(sockaddr), length: *mut socklen_t as inout(socklen),
    ) -> ssize_t, or -1 => ReceiveFrom, Descriptor(socket), Outcome::bytes;
    recvmsg(socket: c_int as fd, message: *mut msghdr as inout(msghdr_out), flags: c_int as number(flags))
        -> ssize_t, or -1
        => ReceiveMessage, Descriptor(socket), Outcome::bytes;
    recvmmsg(
        socket: c_int as fd, list: *mut mmsghdr as inouts(mmsghdr_out, count),
        count: c_uint as number(count), flags: c_int as number(flags),
        limit: *mut timespec as inout(timespec),
    ) -> c_int, or -1
        => ReceiveMessages, Descriptor(socket), |result| messages(result, list);
    send(
        socket: c_int as fd, from: *const c_void as bytes_in(size), size: size_t as number(size),
        flags: c_int as number(flags),
    ) -> ssize_t, or -1
        => Send, Descriptor(socket), Outcome::bytes;
    sendto(
        socket: c_int as fd, from: *const c_void as bytes_in(size), size: size_t as number(size),
        flags: c_int as number(flags), to: *const sockaddr as input(sockaddr),
        length: socklen_t as number(length),
    ) -> ssize_t, or -1 => SendTo, Descriptor(socket), Outcome::bytes;
    sendmsg(socket: c_int as fd, message: *const msghdr as input(msghdr_in), flags: c_int as number(flags))
        -> ssize_t, or -1
        => SendMessage, Descriptor(socket), Outcome::bytes;
    sendmmsg(
        socket: c_int as fd, list: *mut mmsghdr as inouts(mmsghdr_in, count),
        count: c_uint as number(count), flags: c_int as number(flags),
    ) -> c_int, or -1
        => SendMessages, Descriptor(socket), |result| messages(result, list);
    connect(
        socket: c_int as fd, to: *const sockaddr as input(sockaddr), length: socklen_t as number(length),
    ) -> c_int, or -1
        => Connect, Descriptor(socket), errno_of;
}
