//! The table against the headers of the MPIs that are installed: a C program is compiled with each compiler
//! wrapper, prints every constant, and sends messages to itself to show where a status has its fields.
//!
//! More headers are tried where `PROUST_MPI_HEADERS` lists folders, separated by colons, that contain an
//! `mpi.h` or an `mpi_abi.h`: of those only the constants are compared.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proust_mpi_abi::abi::{MPICH, OPEN_MPI, STANDARD, SUCCESS, UNDEFINED};
use proust_mpi_abi::handle::Predefined;
use proust_mpi_abi::status::Count;
use proust_mpi_abi::{Abi, Family};

fn handles(abi: &Abi) -> [(&'static str, &'static str, Predefined); 8] {
    [
        ("MPI_COMM_WORLD", "MPI_Comm", abi.comm_world),
        ("MPI_COMM_SELF", "MPI_Comm", abi.comm_self),
        ("MPI_COMM_NULL", "MPI_Comm", abi.comm_null),
        ("MPI_GROUP_NULL", "MPI_Group", abi.group_null),
        ("MPI_REQUEST_NULL", "MPI_Request", abi.request_null),
        ("MPI_MESSAGE_NULL", "MPI_Message", abi.message_null),
        ("MPI_MESSAGE_NO_PROC", "MPI_Message", abi.message_no_proc),
        ("MPI_BYTE", "MPI_Datatype", abi.byte),
    ]
}

fn numbers(abi: &Abi) -> Vec<(&'static str, i64)> {
    let in_place = abi.in_place as i64;
    vec![
        ("(long)(size_t)MPI_STATUS_IGNORE", abi.status_ignore as i64),
        ("(long)(size_t)MPI_STATUSES_IGNORE", abi.statuses_ignore as i64),
        ("(long)(size_t)MPI_IN_PLACE", in_place),
        ("MPI_ANY_SOURCE", abi.any_source.into()),
        ("MPI_PROC_NULL", abi.proc_null.into()),
        ("MPI_ROOT", abi.root.into()),
        ("MPI_ANY_TAG", abi.any_tag.into()),
        ("MPI_ERR_IN_STATUS", abi.err_in_status.into()),
        ("MPI_ERR_PENDING", abi.err_pending.into()),
        ("MPI_THREAD_MULTIPLE", abi.thread_multiple.into()),
        ("MPI_IDENT", abi.ident.into()),
        ("MPI_SUCCESS", SUCCESS.into()),
        ("MPI_UNDEFINED", UNDEFINED.into()),
        ("sizeof(MPI_Comm)", abi.handle_bytes as i64),
        ("sizeof(MPI_Request)", abi.handle_bytes as i64),
        ("sizeof(MPI_Status)", abi.status.bytes as i64),
        ("offsetof(MPI_Status, MPI_SOURCE)", abi.status.source as i64),
        ("offsetof(MPI_Status, MPI_TAG)", abi.status.tag as i64),
        ("offsetof(MPI_Status, MPI_ERROR)", abi.status.error as i64),
        ("sizeof(MPI_Count)", 8),
        ("sizeof(MPI_Aint)", 8),
    ]
}

/// The program's text; with `runs` it also starts MPI and receives a message of three bytes.
fn program(abi: &Abi, header: &str, runs: bool) -> String {
    let mut code = format!("#include <{header}>\n#include <stddef.h>\n#include <stdio.h>\n");
    code.push_str("int main(int argc, char **argv) {\n");
    for (text, _) in numbers(abi) {
        writeln!(code, "printf(\"%s=%ld\\n\", \"{text}\", (long)({text}));").unwrap();
    }
    for (name, kind, value) in handles(abi) {
        let expected = match value {
            Predefined::Value(value) => format!("({kind})(size_t){value}"),
            Predefined::Symbol(symbol) => format!("({kind})&{}", symbol.to_str().unwrap()),
        };
        writeln!(code, "printf(\"%s=%d\\n\", \"{name}\", {name} == {expected});").unwrap();
    }
    if runs {
        code.push_str(RECEIVING);
    }
    code.push_str("return 0; }\n");
    code
}

const RECEIVING: &str = r#"
    MPI_Init(&argc, &argv);
    char out[3] = "ab", in[8];
    MPI_Status status;
    MPI_Sendrecv(out, 3, MPI_CHAR, 0, 17, in, 8, MPI_CHAR, 0, 17, MPI_COMM_SELF, &status);
    printf("status=");
    for (size_t at = 0; at < sizeof status; at++)
        printf("%02x", ((unsigned char *)&status)[at]);
    printf("\n");
    MPI_Finalize();
"#;

fn compare(abi: &Abi, output: &str, who: &str) {
    let found: BTreeMap<&str, &str> = output.lines().filter_map(|line| line.rsplit_once('=')).collect();
    for (text, expected) in numbers(abi) {
        assert_eq!(found.get(text).and_then(|value| value.parse().ok()), Some(expected), "{who}: {text}");
    }
    for (name, ..) in handles(abi) {
        assert_eq!(found.get(name), Some(&"1"), "{who}: {name}");
    }
    if let Some(status) = found.get("status") {
        let bytes: Vec<u8> = (0..status.len() / 2)
            .map(|at| u8::from_str_radix(&status[2 * at..2 * at + 2], 16).unwrap())
            .collect();
        assert_eq!(bytes.len(), abi.status.bytes);
        // SAFETY: the bytes of a status of this interface.
        unsafe {
            assert_eq!((abi.source(bytes.as_ptr()), abi.tag(bytes.as_ptr())), (0, 17), "{who}");
            if abi.status.count != Count::Asked {
                assert_eq!(abi.received_bytes(bytes.as_ptr()), Some(3), "{who}");
            }
        }
    }
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn output_of(command: &mut Command, who: &str) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{who}: {error}"));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{who}: {error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn check_wrapper(compiler: &str, abi: &Abi) {
    if Command::new(compiler).arg("--version").output().is_err() {
        println!("SKIP: {compiler} is not installed");
        return;
    }
    let folder = Folder::new(compiler);
    let (source, binary) = (folder.0.join("constants.c"), folder.0.join("constants"));
    fs::write(&source, program(abi, "mpi.h", true)).unwrap();
    output_of(Command::new(compiler).arg(&source).arg("-o").arg(&binary), compiler);
    let mut command = Command::new(&binary);
    // Open MPI refuses to run as root unless it is asked twice.
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    compare(abi, &output_of(&mut command, compiler), compiler);
}

#[test]
fn open_mpi_is_as_its_header_says() {
    check_wrapper("mpicc.openmpi", &OPEN_MPI);
}

#[test]
fn mpich_is_as_its_header_says() {
    check_wrapper("mpicc.mpich", &MPICH);
}

/// A folder's header without its library: the program does not call MPI.
fn check_header(folder: &Path) {
    let (header, abi) = if folder.join("mpi_abi.h").exists() {
        ("mpi_abi.h", &STANDARD)
    } else if fs::read_to_string(folder.join("mpi.h")).is_ok_and(|text| text.contains("OMPI_")) {
        ("mpi.h", &OPEN_MPI)
    } else {
        ("mpi.h", &MPICH)
    };
    let who = folder.display().to_string();
    let own = Folder::new(&format!("header-{:?}", abi.family));
    let (source, binary) = (own.0.join("constants.c"), own.0.join("constants"));
    let mut text = program(abi, header, false);
    if abi.family == Family::OpenMpi {
        // Nothing else defines its variables here.
        let symbols = handles(abi).into_iter().filter_map(|(_, _, value)| match value {
            Predefined::Symbol(symbol) => Some(symbol.to_str().unwrap()),
            Predefined::Value(_) => None,
        });
        for symbol in symbols {
            write!(text, "__asm__(\".globl {symbol}\\n.data\\n{symbol}: .quad 0\\n.text\");").unwrap();
        }
    }
    fs::write(&source, text).unwrap();
    output_of(Command::new("cc").arg("-I").arg(folder).arg(&source).arg("-o").arg(&binary), &who);
    compare(abi, &output_of(&mut Command::new(&binary), &who), &who);
}

#[test]
fn other_headers_agree() {
    let Some(folders) = env::var_os("PROUST_MPI_HEADERS") else {
        println!("SKIP: PROUST_MPI_HEADERS names no folders with other headers");
        return;
    };
    for folder in env::split_paths(&folders) {
        check_header(&folder);
    }
}
