//! Tables as comma-separated values (RFC 4180, lines end with a line feed).

use std::io;

/// Writes a row; cells that hold commas, quotes or line breaks are quoted.
///
/// # Errors
/// Those of `to`.
pub(crate) fn write_row(row: &[String], to: &mut dyn io::Write) -> io::Result<()> {
    let cells: Vec<String> = row.iter().map(|cell| quoted(cell)).collect();
    writeln!(to, "{}", cells.join(","))
}

/// Rows as a text.
pub(crate) fn write(rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut text = Vec::new();
    for row in rows {
        write_row(&row, &mut text).expect("memory takes everything");
    }
    String::from_utf8(text).expect("cells are UTF-8")
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_needs_quotes_gets_them() {
        let row = vec!["f(int, int)".to_owned(), "say \"a\"".into(), "plain".into()];
        assert_eq!(super::write([row]), "\"f(int, int)\",\"say \"\"a\"\"\",plain\n");
    }
}
