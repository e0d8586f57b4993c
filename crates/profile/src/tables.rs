//! All of a profile on disk, as Parquet tables.
