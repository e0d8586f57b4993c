//! Calls of which the time is recorded, and nothing else: one-sided communication, and buffers of sends.

use core::ffi::c_int;

use crate::mpi::call::{poll, time};
use crate::mpi::table::functions;
use crate::operation::exact::Facts;

functions! {
    [MPI_Win_test: MPI_Win_test] (window, flag) {
        |operation, numbers, call| poll(
            operation,
            call,
            // SAFETY: the call has written it.
            || unsafe { *(flag as *const c_int) != 0 },
            0,
            |_, _, _| Facts::default(),
        )
    };
    [
        MPI_Buffer_flush: MPI_Buffer_flush,
    ] () {
        |operation, numbers, call| time(operation, call)
    };
    [
        MPI_Win_complete: MPI_Win_complete,
        MPI_Win_wait: MPI_Win_wait,
        MPI_Win_unlock_all: MPI_Win_unlock_all,
        MPI_Win_flush_all: MPI_Win_flush_all,
        MPI_Win_flush_local_all: MPI_Win_flush_local_all,
        MPI_Win_sync: MPI_Win_sync,
        MPI_Buffer_iflush: MPI_Buffer_iflush,
        MPI_Comm_flush_buffer: MPI_Comm_flush_buffer,
        MPI_Session_flush_buffer: MPI_Session_flush_buffer,
    ] (one) {
        |operation, numbers, call| time(operation, call)
    };
    [
        MPI_Win_unlock: MPI_Win_unlock,
        MPI_Win_lock_all: MPI_Win_lock_all,
        MPI_Win_flush: MPI_Win_flush,
        MPI_Win_flush_local: MPI_Win_flush_local,
        MPI_Buffer_detach: MPI_Buffer_detach MPI_Buffer_detach_c,
        MPI_Comm_iflush_buffer: MPI_Comm_iflush_buffer,
        MPI_Session_iflush_buffer: MPI_Session_iflush_buffer,
    ] (one, two) {
        |operation, numbers, call| time(operation, call)
    };
    [
        MPI_Win_start: MPI_Win_start,
        MPI_Win_post: MPI_Win_post,
        MPI_Comm_detach_buffer: MPI_Comm_detach_buffer MPI_Comm_detach_buffer_c,
        MPI_Session_detach_buffer: MPI_Session_detach_buffer MPI_Session_detach_buffer_c,
    ] (one, two, three) {
        |operation, numbers, call| time(operation, call)
    };
    [
        MPI_Win_lock: MPI_Win_lock,
    ] (one, two, three, four) {
        |operation, numbers, call| time(operation, call)
    };
    [
        MPI_Fetch_and_op: MPI_Fetch_and_op,
        MPI_Compare_and_swap: MPI_Compare_and_swap,
    ] (one, two, three, four, five, six, seven) {
        |operation, numbers, call| time(operation, call)
    };
    [
        MPI_Put: MPI_Put MPI_Put_c,
        MPI_Get: MPI_Get MPI_Get_c,
    ] (one, two, three, four, five, six, seven, eight) {
        |operation, numbers, call| time(operation, call)
    };
    [
        MPI_Accumulate: MPI_Accumulate MPI_Accumulate_c,
        MPI_Rput: MPI_Rput MPI_Rput_c,
        MPI_Rget: MPI_Rget MPI_Rget_c,
    ] (one, two, three, four, five, six, seven, eight, nine) {
        |operation, numbers, call| time(operation, call)
    };
    [
        MPI_Raccumulate: MPI_Raccumulate MPI_Raccumulate_c,
    ] (one, two, three, four, five, six, seven, eight, nine, ten) {
        |operation, numbers, call| time(operation, call)
    };
    [
        MPI_Get_accumulate: MPI_Get_accumulate MPI_Get_accumulate_c,
    ] (one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve) {
        |operation, numbers, call| time(operation, call)
    };
    [
        MPI_Rget_accumulate: MPI_Rget_accumulate MPI_Rget_accumulate_c,
    ] (one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen) {
        |operation, numbers, call| time(operation, call)
    };
}
