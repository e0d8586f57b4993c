//! Other work on the machine beside a recorded program.

use std::process::{Child, Command, Stdio};

/// Programs that take the processors, until this is dropped.
pub struct Load(Vec<Child>);

impl Load {
    pub fn begin(count: usize) -> Load {
        let child = || {
            let mut command = Command::new("sh");
            command.args(["-c", "while :; do :; done"]).stdout(Stdio::null());
            command.spawn().expect("a shell")
        };
        Load((0..count).map(|_| child()).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            child.kill().ok();
            child.wait().ok();
        }
    }
}
