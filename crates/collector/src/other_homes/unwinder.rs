//! Functions that Rust's standard library needs of an unwinder, which not every root has.
//!
//! `libgcc_s` is not installed everywhere, and a second copy of the unwinder inside this library could not
//! read what the program's unwinder hands to a personality routine: the layout is private to each copy. So no
//! unwinder is linked. An exception or a cancellation passes through the hooks' frames by their unwind tables
//! alone. Where one of these frames names Rust's personality routine, that routine finds no table of cleanups
//! (`_Unwind_GetLanguageSpecificData` answers null) and makes the unwinder continue, as it does for frames
//! that have nothing to be dropped.
//!
//! A panic cannot unwind: `_Unwind_RaiseException` refuses, and the standard library aborts. The code that
//! prints a panic's backtrace refers to `stat64` and `fstat64`, which old C libraries lack; it works without
//! files.

use crate::arch::stubs::{answers, trap};

// 5 is `_URC_END_OF_STACK`.
answers! {
    "_Unwind_RaiseException" => "5";
    "_Unwind_Backtrace" => "5";
    "_Unwind_GetLanguageSpecificData" => "0";
    "_Unwind_GetIP" => "0";
    "_Unwind_GetIPInfo" => "0";
    "_Unwind_GetRegionStart" => "0";
    "_Unwind_GetTextRelBase" => "0";
    "_Unwind_GetDataRelBase" => "0";
    "_Unwind_SetGR" => "0";
    "_Unwind_SetIP" => "0";
    "_Unwind_DeleteException" => "0";
    "stat64" => "-1";
    "fstat64" => "-1";
}

// It follows a cleanup, and none is ever entered.
trap!("_Unwind_Resume");
