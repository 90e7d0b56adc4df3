//! Columns of values, to a Parquet file.
//!
//! No unsigned types, as some readers lack them; times are in microseconds, UTC; every column is
//! nullable.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, GzipLevel, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use syscost_report::export::{ExportError, started_us};

/// The values of a column; `None` is null.
#[derive(Debug)]
pub(super) enum Values {
    /// VARCHAR.
    Text(Vec<Option<ByteArray>>),
    /// DOUBLE.
    Double(Vec<Option<f64>>),
    /// INT32.
    Int(Vec<Option<i32>>),
    /// INT64.
    Long(Vec<Option<i64>>),
    /// TIMESTAMP in microseconds since 1970, UTC.
    Time(Vec<Option<i64>>),
    /// BOOLEAN.
    Bool(Vec<Option<bool>>),
}

/// Columns of equal length with their names.
pub(super) type Table = Vec<(&'static str, Values)>;

/// The columns of a table with these lines, added one after the other: each by a function of a line.
pub(super) struct Columns<'l, L> {
    lines: &'l [L],
    run: fn(&L) -> &str,
    table: Result<Table, ExportError>,
}

impl<'l, L> Columns<'l, L> {
    /// None yet. A line is of this run, which errors name.
    pub(super) fn of(lines: &'l [L], run: fn(&L) -> &str) -> Self {
        let table = Ok(Vec::new());
        Self { lines, run, table }
    }

    /// All of them.
    ///
    /// # Errors
    /// A value that its column cannot hold.
    pub(super) fn table(self) -> Result<Table, ExportError> {
        self.table
    }

    pub(super) fn text(self, name: &'static str, of: impl Fn(&L) -> Option<String>) -> Self {
        self.shared_text(name, |line| of(line).map(|text| text.into_bytes().into()))
    }

    /// Texts of which several lines may have the same bytes.
    pub(super) fn shared_text(
        self,
        name: &'static str,
        of: impl Fn(&L) -> Option<ByteArray>,
    ) -> Self {
        self.column(name, Values::Text, |line| Ok(of(line)))
    }

    pub(super) fn double(self, name: &'static str, of: impl Fn(&L) -> Option<f64>) -> Self {
        self.column(name, Values::Double, |line| Ok(of(line)))
    }

    pub(super) fn bool(self, name: &'static str, of: impl Fn(&L) -> Option<bool>) -> Self {
        self.column(name, Values::Bool, |line| Ok(of(line)))
    }

    pub(super) fn int(self, name: &'static str, of: impl Fn(&L) -> Option<u32>) -> Self {
        let run = self.run;
        self.column(name, Values::Int, |line| {
            fitting(run(line), name, of(line).map(u64::from))
        })
    }

    pub(super) fn long(self, name: &'static str, of: impl Fn(&L) -> Option<u64>) -> Self {
        let run = self.run;
        self.column(name, Values::Long, |line| {
            fitting(run(line), name, of(line))
        })
    }

    pub(super) fn time(self, name: &'static str, of: impl Fn(&L) -> String) -> Self {
        let run = self.run;
        self.column(name, Values::Time, |line| {
            started_us(run(line), &of(line)).map(Some)
        })
    }

    fn column<T>(
        mut self,
        name: &'static str,
        kind: fn(Vec<Option<T>>) -> Values,
        of: impl Fn(&L) -> Result<Option<T>, ExportError>,
    ) -> Self {
        self.table = self.table.and_then(|mut table| {
            let values: Result<_, ExportError> = self.lines.iter().map(of).collect();
            table.push((name, kind(values?)));
            Ok(table)
        });
        self
    }
}

/// A number converted to a column's signed type.
fn fitting<T: TryFrom<u64>>(
    run: &str,
    column: &'static str,
    value: Option<u64>,
) -> Result<Option<T>, ExportError> {
    let too_large = |value| ExportError::TooLarge {
        run: run.to_owned(),
        column,
        value,
    };
    let fit = |value| T::try_from(value).map_err(|_| too_large(value));
    value.map(fit).transpose()
}

impl Values {
    /// Adds the values of a column of the same type; of another type none.
    pub(super) fn append(&mut self, more: Values) {
        match (self, more) {
            (Values::Text(all), Values::Text(more)) => all.extend(more),
            (Values::Double(all), Values::Double(more)) => all.extend(more),
            (Values::Int(all), Values::Int(more)) => all.extend(more),
            (Values::Long(all), Values::Long(more)) | (Values::Time(all), Values::Time(more)) => {
                all.extend(more);
            }
            (Values::Bool(all), Values::Bool(more)) => all.extend(more),
            (_, _) => {}
        }
    }

    fn clear(&mut self) {
        match self {
            Values::Text(values) => values.clear(),
            Values::Double(values) => values.clear(),
            Values::Int(values) => values.clear(),
            Values::Long(values) | Values::Time(values) => values.clear(),
            Values::Bool(values) => values.clear(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Values::Text(values) => values.len(),
            Values::Double(values) => values.len(),
            Values::Int(values) => values.len(),
            Values::Long(values) | Values::Time(values) => values.len(),
            Values::Bool(values) => values.len(),
        }
    }

    fn schema(&self, name: &str) -> Result<Type, ParquetError> {
        let (physical, logical) = match self {
            Values::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Values::Double(_) => (Physical::DOUBLE, None),
            Values::Int(_) => (Physical::INT32, None),
            Values::Long(_) => (Physical::INT64, None),
            Values::Time(_) => (
                Physical::INT64,
                Some(LogicalType::timestamp(true, TimeUnit::MICROS)),
            ),
            Values::Bool(_) => (Physical::BOOLEAN, None),
        };
        Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()
    }

    fn write(&self, mut column: SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        match self {
            Values::Text(values) => put(column.typed::<ByteArrayType>(), values)?,
            Values::Double(values) => put(column.typed::<DoubleType>(), values)?,
            Values::Int(values) => put(column.typed::<Int32Type>(), values)?,
            Values::Long(values) | Values::Time(values) => {
                put(column.typed::<Int64Type>(), values)?;
            }
            Values::Bool(values) => put(column.typed::<BoolType>(), values)?,
        }
        column.close()
    }
}

/// Writes the values that are not null, and the definition levels that say which those are.
fn put<T: DataType>(
    column: &mut ColumnWriterImpl<'_, T>,
    values: &[Option<T::T>],
) -> Result<(), ParquetError> {
    let present: Vec<T::T> = values.iter().flatten().cloned().collect();
    let levels: Vec<i16> = values.iter().map(|value| value.is_some().into()).collect();
    column.write_batch(&present, Some(&levels), None)?;
    Ok(())
}

/// Rows that are gathered before they are written, as a row group: engines read groups of some ten thousand best.
const ROWS: usize = 1 << 16;

/// A Parquet file that grows by row groups.
pub(super) struct TableWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    gathered: Table,
}

impl<W: Write + Send> TableWriter<W> {
    /// Begins a file of tables with these columns, and these rows.
    pub(super) fn new(to: W, first: Table) -> Result<Self, ParquetError> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::GZIP(GzipLevel::default()))
            .set_created_by("syscost".to_owned());
        let fields = first
            .iter()
            .map(|(name, values)| values.schema(name).map(Arc::new));
        let schema = Type::group_type_builder("syscost")
            .with_fields(fields.collect::<Result<_, _>>()?)
            .build()?;
        let file = SerializedFileWriter::new(to, Arc::new(schema), Arc::new(properties.build()))?;
        let gathered = first;
        Ok(Self { file, gathered })
    }

    /// Adds rows of the same columns.
    pub(super) fn add(&mut self, table: Table) -> Result<(), ParquetError> {
        for ((_, all), (_, more)) in self.gathered.iter_mut().zip(table) {
            all.append(more);
        }
        match self.rows() < ROWS {
            true => Ok(()),
            false => self.write(),
        }
    }

    fn rows(&self) -> usize {
        self.gathered.first().map_or(0, |(_, values)| values.len())
    }

    fn write(&mut self) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for (_, values) in &mut self.gathered {
            if let Some(column) = group.next_column()? {
                values.write(column)?;
            }
            values.clear();
        }
        group.close()?;
        Ok(())
    }

    /// Ends the file.
    pub(super) fn finish(mut self) -> Result<W, ParquetError> {
        if self.rows() > 0 {
            self.write()?;
        }
        self.file.into_inner()
    }
}
