//! Tables as comma-separated values (RFC 4180, lines end with a line feed).

/// Writes rows; cells that hold commas, quotes or line breaks are quoted.
pub(crate) fn write(rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| quoted(cell)).collect();
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
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
