//! The page `intervals` as CSV.

use proust_account::ledger::Account;

use super::IntervalsPage;
use crate::number::exact;

impl IntervalsPage {
    /// The page as rows, the first one of titles.
    pub(super) fn as_rows(&self) -> Vec<Vec<String>> {
        let first = [
            "handle",
            "parent",
            "level",
            "name",
            "id",
            "file",
            "line",
            "kind",
            "work",
            "executions",
            "recorded",
            "unmarked",
            "iterations",
            "execution_s",
            "min_s",
            "mean_s",
            "max_s",
            "wall_s",
            "processors",
            "ranks",
            "total_s",
            "productive_s",
            "lost_s",
            "efficiency",
            "beyond_s",
        ];
        let heads = first.into_iter().chain(Account::ALL.map(Account::id));
        let mut rows = vec![heads.map(str::to_owned).collect::<Vec<String>>()];
        let text = |number: Option<String>| number.unwrap_or_default();
        rows.extend(self.intervals.iter().map(|row| {
            let mut cells = vec![
                row.handle.clone(),
                text(row.parent.map(|parent| parent.to_string())),
                row.level.to_string(),
                row.name.clone(),
                text(row.id.map(|id| id.to_string())),
                row.file.clone().unwrap_or_default(),
                text(row.line.map(|line| line.to_string())),
                row.kind.to_owned(),
                row.work.to_owned(),
                row.executions.to_string(),
                row.recorded.to_string(),
                row.unmarked.to_string(),
                row.iterations.to_string(),
            ];
            cells.extend([row.execution_s, row.min_s, row.mean_s, row.max_s, row.wall_s].map(exact));
            cells.extend([row.processors.to_string(), row.ranks.to_string()]);
            cells.extend([row.total_s, row.productive_s, row.lost_s].map(exact));
            cells.extend([text(row.efficiency.map(exact)), exact(row.beyond_s)]);
            let of = |account: Account| row.accounts.get(account.id()).copied().unwrap_or(0.0);
            cells.extend(Account::ALL.map(|account| exact(of(account))));
            cells
        }));
        rows
    }
}
