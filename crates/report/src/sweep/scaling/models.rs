//! Costs as formulas of the count: of the whole program and of the places that lose most.

use proust_compare::JointId;
use proust_compare::scaling::{Ensemble, Model, Sample, fit};
use proust_profile::Ns;
use schemars::JsonSchema;
use serde::Serialize;

use super::plain_name;
use crate::number::{duration, fixed};
use crate::pages::heading;
use crate::style::{Paint, Style};
use crate::sweep::wording;
use crate::table::{Align, Table};

/// Places of which formulas are looked for, besides the program.
const MODELS: usize = 5;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ModelRow {
    of: String,
    id: Option<JointId>,
    text: String,
    constant: f64,
    coefficient: f64,
    exponent: f64,
    logarithms: u32,
    smape: f64,
    predictions: Vec<PredictionRow>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PredictionRow {
    count: f64,
    value: f64,
    beyond: bool,
}

/// Formulas of the program and of the first of these places, where there are enough counts for one.
pub(super) fn models(ensemble: &Ensemble<'_>, order: &[(JointId, usize)]) -> Vec<ModelRow> {
    let counts = ensemble.counts();
    let mut rows = Vec::new();
    let mut add = |of: String, id: Option<JointId>, values: &dyn Fn(usize) -> Vec<Ns>| {
        let sample = |at: usize| {
            let seconds: Vec<f64> = values(at).into_iter().map(Ns::as_seconds).collect();
            Sample::of(f64::from(counts[at]), &seconds)
        };
        let samples: Vec<Sample> = (0..counts.len()).filter_map(sample).collect();
        if let Some(model) = fit(&samples) {
            rows.push(ModelRow::new(of, id, &model));
        }
    };
    add("wall time of the program".into(), None, &|at| ensemble.group(at).map(|run| run.wall).collect());
    add("processor time of the program".into(), Some(0), &|at| ensemble.costs(0, at));
    let has_formula = |node: JointId| node != 0 && !wording::is_entrance(ensemble, node);
    for &(node, _) in order.iter().filter(|(node, _)| has_formula(*node)).take(MODELS) {
        let of = format!("processor time of {}", plain_name(ensemble, node));
        add(of, Some(node), &|at| ensemble.costs(node, at));
    }
    rows
}

impl ModelRow {
    fn new(of: String, id: Option<JointId>, model: &Model) -> ModelRow {
        let counts = [model.to, 2.0 * model.to, 4.0 * model.to, 16.0 * model.to];
        let predictions = counts.map(|count| {
            let prediction = model.predict(count);
            PredictionRow { count, value: prediction.value, beyond: prediction.is_beyond }
        });
        ModelRow {
            of,
            id,
            text: formula(model),
            constant: model.constant,
            coefficient: model.coefficient,
            exponent: model.exponent,
            logarithms: model.logarithms,
            smape: model.smape,
            predictions: predictions.into(),
        }
    }
}

/// `5 + 2·p·log2 p`
fn formula(model: &Model) -> String {
    // As many digits as matter: a small coefficient may belong to a large power.
    let number = |number: f64| {
        if number == 0.0 {
            return "0".to_owned();
        }
        let before = number.abs().log10().floor() as i32 + 1;
        let decimals = usize::try_from((4 - before).max(0)).unwrap_or(0);
        let text = format!("{number:.decimals$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    };
    if model.is_constant() {
        return number(model.constant);
    }
    let power = match model.exponent {
        0.0 => String::new(),
        1.0 => "·p".to_owned(),
        exponent => format!("·p^{}", number(exponent)),
    };
    let logarithm = match model.logarithms {
        0 => String::new(),
        1 => "·log2 p".to_owned(),
        j => format!("·log2^{j} p"),
    };
    let sign = if model.coefficient < 0.0 { "-" } else { "+" };
    format!("{} {sign} {}{power}{logarithm}", number(model.constant), number(model.coefficient.abs()))
}

/// The formulas in text.
pub(super) fn text(models: &[ModelRow], style: &Style) -> String {
    let mut text = "\n".to_owned() + &heading(style, "As formulas of the count p", "seconds");
    let mut table = Table::new([
        ("formula", Align::Left),
        ("error", Align::Right),
        ("prediction", Align::Left),
        ("of", Align::Left),
    ]);
    for model in models {
        let next = model.predictions.get(1);
        let guess =
            next.map(|guess| format!("{} at {} (beyond)", duration(guess.value.max(0.0)), guess.count));
        table.row(vec![
            model.text.clone().into(),
            format!("{} %", fixed(100.0 * model.smape, 1)).into(),
            guess.unwrap_or_default().into(),
            model.of.clone().into(),
        ]);
    }
    text.push_str(&table.render(style));
    let line = " error: how far points are off when the formula is made without them; beyond: more than \
     was measured, a guess.";
    text.push_str(&(style.paint(Paint::Faint, line) + "\n"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of a formula's value for a count: `c + k·p^i·log2^j p`.
    fn value_of(text: &str, count: f64) -> f64 {
        let (constant, rest) = text.split_once(' ').expect("a sum");
        let (sign, term) = rest.split_once(' ').expect("a sign");
        let mut factors = term.split('·');
        let mut value: f64 = factors.next().and_then(|number| number.parse().ok()).expect("a number");
        for factor in factors {
            value *= match factor {
                "p" => count,
                "log2 p" => count.log2(),
                _ if factor.starts_with("p^") => count.powf(factor[2..].parse().expect("an exponent")),
                other => panic!("{other} in {text}"),
            };
        }
        constant.parse::<f64>().expect("a number") + if sign == "-" { -value } else { value }
    }

    fn model(constant: f64, coefficient: f64, exponent: f64, logarithms: u32) -> Model {
        Model { constant, coefficient, exponent, logarithms, smape: 0.0, from: 1.0, to: 16.0 }
    }

    #[test]
    fn a_small_coefficient_of_a_large_power_is_not_rounded_away() {
        assert_eq!(formula(&model(0.5, 0.0004, 2.0, 0)), "0.5 + 0.0004·p^2");
        assert_eq!(formula(&model(12.0, -3.0e-7, 3.0, 1)), "12 - 0.0000003·p^3·log2 p");
    }

    #[test]
    fn the_text_says_what_the_model_predicts() {
        for coefficient in [1.234e-8, -5.678e-5, 0.0004, 0.99996, 12.345, 98_765.4] {
            for (exponent, logarithms) in [(1.0, 0), (2.0, 0), (0.5, 1), (3.0, 1), (0.0, 1)] {
                let model = model(0.5, coefficient, exponent, logarithms);
                let text = formula(&model);
                for count in [2.0, 64.0, 4096.0] {
                    let (said, predicted) = (value_of(&text, count), model.predict(count).value);
                    let near = (said - predicted).abs() <= 1e-3 * (predicted.abs() + 0.5);
                    assert!(near, "{text} at {count}: {said}, not {predicted}");
                }
            }
        }
    }
}
