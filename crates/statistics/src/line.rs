//! A line through points, and whether its slope is more than chance.

use super::change::DECISION;
use super::quantiles;

/// A point with what is known of its value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Where.
    pub at: f64,
    /// The value there.
    pub value: f64,
    /// Its standard error by repetitions; 0 if nothing is known of it.
    pub error: f64,
    /// Degrees of freedom of that error.
    pub degrees: f64,
}

/// Least squares of value = constant + slope · at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// The value at 0.
    pub constant: f64,
    /// What one more adds.
    pub slope: f64,
}

impl Line {
    /// That through these points; None if all are at one place.
    pub fn through(points: impl Iterator<Item = (f64, f64)> + Clone) -> Option<Line> {
        let n = points.clone().count() as f64;
        let (mean_at, mean) =
            points.clone().fold((0.0, 0.0), |(ats, values), (at, value)| (ats + at / n, values + value / n));
        let (mut squares, mut products) = (0.0, 0.0);
        for (at, value) in points {
            squares += (at - mean_at) * (at - mean_at);
            products += (at - mean_at) * (value - mean);
        }
        let slope = products / squares;
        (squares > 0.0).then_some(Line { constant: mean - slope * mean_at, slope })
    }

    /// The value at a place.
    pub fn at(&self, at: f64) -> f64 {
        self.constant + self.slope * at
    }

    /// Whether chance makes so steep a line of points on a level one in less than one of a hundred cases
    /// (Student): by what the line leaves unexplained, and by the errors of the points.
    pub fn is_sloped(&self, points: &[Point]) -> bool {
        let n = points.len() as f64;
        if n <= 2.0 {
            return false;
        }
        let mean_at = points.iter().map(|point| point.at).sum::<f64>() / n;
        let squares: f64 = points.iter().map(|point| (point.at - mean_at).powi(2)).sum();
        let unexplained: f64 = points.iter().map(|point| (point.value - self.at(point.at)).powi(2)).sum();
        let by_points = (unexplained / (n - 2.0) / squares).sqrt();
        let weighted: f64 =
            points.iter().map(|point| ((point.at - mean_at) / squares * point.error).powi(2)).sum();
        let degrees: f64 = points.iter().map(|point| point.degrees).sum();
        let half_by_points = quantiles::t(DECISION, n - 2.0) * by_points;
        let half_by_errors = match degrees >= 1.0 {
            true => quantiles::t(DECISION, degrees) * weighted.sqrt(),
            false => 0.0,
        };
        self.slope.abs() > half_by_points.max(half_by_errors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robust::Normals;

    /// Of level points with normal noise one line in a hundred is called sloped, with any number of points.
    #[test]
    fn level_points_are_sloped_in_one_of_a_hundred_cases() {
        const TRIALS: u32 = 20_000;
        for n in [4, 6, 10] {
            let mut normal = Normals::new(n);
            let found = (0..TRIALS).filter(|_| {
                let points: Vec<Point> = (0..n)
                    .map(|at| Point { at: at as f64, value: 5.0 + normal.next(), ..Point::default() })
                    .collect();
                let line = Line::through(points.iter().map(|point| (point.at, point.value))).unwrap();
                line.is_sloped(&points)
            });
            let share = found.count() as f64 / f64::from(TRIALS);
            // Four standard errors.
            assert!((share - 0.01).abs() < 4.0 * (0.01 * 0.99 / f64::from(TRIALS)).sqrt(), "{n}: {share}");
        }
    }

    #[test]
    fn errors_of_points_count_where_the_line_hits_them_by_luck() {
        let with = |error| -> Vec<Point> {
            (0..4).map(|at| Point { at: at.into(), value: at.into(), error, degrees: 2.0 }).collect()
        };
        let line = Line { constant: 0.0, slope: 1.0 };
        assert!(line.is_sloped(&with(0.1)));
        assert!(!line.is_sloped(&with(1.0)));
        assert_eq!(Line::through([(1.0, 2.0), (1.0, 3.0)].into_iter()), None);
    }
}
