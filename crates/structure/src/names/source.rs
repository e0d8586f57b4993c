//! Names as debug information writes them for one component of a qualified name.

/// The component without template arguments: `max` for `max<int>`, `operator<` for `operator< <int>`.
/// Names that are brackets altogether (`<lambda(int)>`) and conversion operators stay.
pub(crate) fn component_without_template_arguments(name: &str) -> &str {
    // rustc writes `{closure#0}<T>`.
    if let Some((closure, _)) = name.strip_prefix('{').and_then(|rest| rest.split_once("}<")) {
        return &name[..closure.len() + 2];
    }
    if !name.ends_with('>') || name.starts_with(['<', '{']) {
        return name;
    }
    let arguments_from = match name.strip_prefix("operator") {
        Some(conversion) if conversion.starts_with(' ') => return name,
        Some(signs) if !signs.starts_with(|c: char| c.is_alphanumeric() || c == '_') => {
            "operator".len() + operator_sign_bytes(signs)
        }
        _ => 0,
    };
    match name[arguments_from..].find('<') {
        Some(at) if arguments_from + at > 0 => name[..arguments_from + at].trim_end(),
        _ => name,
    }
}

/// Bytes of the angle brackets that belong to the operator itself.
fn operator_sign_bytes(signs: &str) -> usize {
    const WITH_ANGLE: [&str; 9] = ["<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->"];
    match WITH_ANGLE.iter().find(|known| signs.starts_with(**known)) {
        // `operator<<int>` is `operator<` with an argument: the other reading leaves a bracket unopened.
        Some(&"<<") if !signs[2..].contains('<') && signs.ends_with('>') => 1,
        Some(known) => known.len(),
        None => usize::from(signs.starts_with(['<', '>'])),
    }
}

/// GCC's debug information writes `<lambda(int)>` where a linker symbol says `{lambda(int)#1}`.
pub(crate) fn lambda_as_linkers_write_it(name: &str) -> String {
    match name.strip_prefix("<lambda").and_then(|rest| rest.strip_suffix('>')) {
        Some(parameters) => format!("{{lambda{parameters}}}"),
        None => name.to_owned(),
    }
}
