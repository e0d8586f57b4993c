//! What interpreters execute, each once for all lanes: processes of one program execute the same.

use std::sync::{Arc, Mutex, PoisonError};

use proust_log::code::Code;
use proust_structure::InterpretedCode;
use rustc_hash::FxHashMap;

/// Code objects by their texts.
#[derive(Debug, Default)]
pub(super) struct Codes(Mutex<FxHashMap<Box<[u8]>, Arc<InterpretedCode>>>);

impl Codes {
    /// The code object of a text of a log; None if it is damaged.
    pub(super) fn of(&self, text: &[u8]) -> Option<Arc<InterpretedCode>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(code) = known.get(text) {
            return Some(Arc::clone(code));
        }
        let code = Arc::new(read(Code::parse(text)?));
        known.insert(text.into(), Arc::clone(&code));
        Some(code)
    }
}

fn read(code: Code<'_>) -> InterpretedCode {
    let shown = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let (name, file) = (shown(code.name), shown(code.file));
    InterpretedCode::new(code.minor_version, name, file, code.first_line, code.lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proust_log::code::Head;

    #[test]
    fn equal_texts_are_one_code_object_and_damaged_ones_are_none() {
        let codes = Codes::default();
        let head = Head { minor_version: 11, name_bytes: 1, file_bytes: 4, first_line: 3 };
        let text = [&head.to_bytes()[..], b"fx.py"].concat();
        let (one, other) = (codes.of(&text).unwrap(), codes.of(&text).unwrap());
        assert!(Arc::ptr_eq(&one, &other));
        assert_eq!((one.name.as_str(), one.file.as_str(), one.first_line), ("f", "x.py", 3));
        assert!(codes.of(&text[..14]).is_none());
    }
}
