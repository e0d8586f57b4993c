//! What could not be known of a module.

crate::notes! {
    /// Something that could not be known of a module.
    pub enum ModuleNote {
        /// The name stands for memory that is not a file.
        NoFile "no-file" Note {
            /// The module's name, such as `[vdso]`.
            path: String,
        }
        /// The file is gone or may not be read.
        Unreadable "unreadable" Caution {
            /// The module's file.
            path: String,
            /// The system's message.
            reason: String,
        }
        /// The file is no ELF file.
        NotElf "not-elf" Caution {
            /// The module's file.
            path: String,
        }
        /// The file is an ELF file of another word size.
        NotSixtyFourBit "not-64-bit" Caution {
            /// The module's file.
            path: String,
        }
        /// The file contradicts itself.
        Damaged "damaged" Caution {
            /// The module's file.
            path: String,
            /// The first contradiction.
            contradiction: String,
        }
        /// The file is of another build than the one that was measured.
        OtherBuild "other-build" Caution {
            /// The module's file.
            path: String,
            /// The measured build-id.
            recorded: String,
            /// The file's, if it has one.
            found: Option<String>,
        }
        /// The file has another size than the one that was measured.
        OtherSize "other-size" Caution {
            /// The module's file.
            path: String,
            /// Bytes then.
            recorded_bytes: u64,
            /// Bytes now.
            found_bytes: u64,
        }
        /// The file was written to since the run.
        Modified "modified" Caution {
            /// The module's file.
            path: String,
        }
        /// Nothing was recorded by which the file could be recognised.
        Unverified "unverified" Caution {
            /// The module's file.
            path: String,
        }
        /// There is no symbol table.
        NoSymbols "no-symbols" Caution {
            /// The module's file.
            path: String,
        }
        /// There are no source lines.
        NoDebugInfo "no-debug-info" Note {
            /// The module's file.
            path: String,
        }
        /// A separate debug file exists and was not used.
        DebugFileIgnored "debug-file-ignored" Caution {
            /// The debug file.
            path: String,
            /// The module it was found for.
            module: String,
            /// Why it was not used.
            reason: String,
        }
        /// The debug information contradicts itself.
        DebugInfoDamaged "debug-info-damaged" Caution {
            /// The module's file.
            path: String,
            /// The first contradiction.
            contradiction: String,
        }
        /// A file of split debug information is missing.
        SplitDebugInfoMissing "split-debug-info-missing" Caution {
            /// The missing file.
            path: String,
        }
    }
}

impl ModuleNote {
    /// Whether it is true of most modules, and is shown with the module only.
    pub fn is_usual(&self) -> bool {
        matches!(self, ModuleNote::NoFile { .. } | ModuleNote::NoDebugInfo { .. })
    }
}
