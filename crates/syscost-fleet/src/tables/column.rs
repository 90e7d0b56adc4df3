//! Columns of values, to a Parquet file and from one.
//!
//! No unsigned types, as some readers lack them; times are in microseconds, UTC; every column is
//! nullable.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};

/// The values of a column; `None` is null.
#[derive(Debug)]
pub(super) enum Values {
    /// VARCHAR.
    Text(Vec<Option<ByteArray>>),
    /// BLOB of bytes that are packed already.
    Packed(Vec<Option<ByteArray>>),
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

impl Values {
    /// A column of texts.
    pub(super) fn text(texts: impl Iterator<Item = Option<String>>) -> Self {
        Values::Text(
            texts
                .map(|text| text.map(|text| text.into_bytes().into()))
                .collect(),
        )
    }

    /// Adds the values of a column of the same type; of another type none.
    pub(super) fn append(&mut self, more: Values) {
        match (self, more) {
            (Values::Text(all), Values::Text(more))
            | (Values::Packed(all), Values::Packed(more)) => all.extend(more),
            (Values::Double(all), Values::Double(more)) => all.extend(more),
            (Values::Int(all), Values::Int(more)) => all.extend(more),
            (Values::Long(all), Values::Long(more)) | (Values::Time(all), Values::Time(more)) => {
                all.extend(more);
            }
            (Values::Bool(all), Values::Bool(more)) => all.extend(more),
            (_, _) => {}
        }
    }

    fn len(&self) -> usize {
        match self {
            Values::Text(values) | Values::Packed(values) => values.len(),
            Values::Double(values) => values.len(),
            Values::Int(values) => values.len(),
            Values::Long(values) | Values::Time(values) => values.len(),
            Values::Bool(values) => values.len(),
        }
    }

    fn schema(&self, name: &str) -> Result<Type, ParquetError> {
        let (physical, logical) = match self {
            Values::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Values::Packed(_) => (Physical::BYTE_ARRAY, None),
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
            Values::Text(values) | Values::Packed(values) => {
                put(column.typed::<ByteArrayType>(), values)?;
            }
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

/// A Parquet file that grows by a row group for each table.
pub(super) struct TableWriter<W: Write + Send>(SerializedFileWriter<W>);

impl<W: Write + Send> TableWriter<W> {
    /// Begins a file of tables with these columns.
    pub(super) fn new(to: W, columns: &Table) -> Result<Self, ParquetError> {
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by("syscost".to_owned());
        let mut fields = Vec::new();
        for (name, values) in columns {
            fields.push(Arc::new(values.schema(name)?));
            if let Values::Packed(_) = values {
                let column = ColumnPath::from(*name);
                properties = properties
                    .set_column_compression(column.clone(), Compression::UNCOMPRESSED)
                    .set_column_dictionary_enabled(column.clone(), false)
                    .set_column_statistics_enabled(column, EnabledStatistics::None);
            }
        }
        let schema = Type::group_type_builder("syscost")
            .with_fields(fields)
            .build()?;
        let properties = Arc::new(properties.build());
        SerializedFileWriter::new(to, Arc::new(schema), properties).map(Self)
    }

    /// Adds a row group, if there are rows.
    pub(super) fn add(&mut self, table: &Table) -> Result<(), ParquetError> {
        if table.first().is_none_or(|(_, values)| values.len() == 0) {
            return Ok(());
        }
        let mut group = self.0.next_row_group()?;
        for (_, values) in table {
            if let Some(column) = group.next_column()? {
                values.write(column)?;
            }
        }
        group.close()?;
        Ok(())
    }

    /// Ends the file.
    pub(super) fn finish(self) -> Result<W, ParquetError> {
        self.0.into_inner()
    }
}

/// A Parquet file, read row group by row group.
pub(super) struct TableReader(SerializedFileReader<File>);

/// A row group of it.
pub(super) struct Group<'f>(Box<dyn RowGroupReader + 'f>);

impl TableReader {
    pub(super) fn open(path: &Path) -> Result<Self, ParquetError> {
        SerializedFileReader::try_from(path).map(Self)
    }

    pub(super) fn groups(&self) -> impl Iterator<Item = Result<Group<'_>, ParquetError>> {
        let indices = 0..self.0.num_row_groups();
        indices.map(|index| self.0.get_row_group(index).map(Group))
    }
}

impl Group<'_> {
    /// The values of the column of this name and type; `None` is null.
    pub(super) fn column<T: DataType>(
        &self,
        name: &str,
    ) -> Result<Vec<Option<T::T>>, ParquetError> {
        let group = self.0.metadata();
        let is_meant = |at: &usize| group.column(*at).column_path().string() == name;
        let at = (0..group.num_columns()).find(is_meant);
        let at = at.ok_or_else(|| ParquetError::General(format!("there is no column {name}")))?;
        let of_other_type = || ParquetError::General(format!("column {name} has another type"));
        let is_optional = group.column(at).column_descr().max_def_level() > 0;
        let mut column =
            T::get_column_reader(self.0.get_column_reader(at)?).ok_or_else(of_other_type)?;
        let rows = usize::try_from(group.num_rows()).unwrap_or(0);
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        let (read, _, _) = column.read_records(rows, Some(&mut levels), None, &mut values)?;
        if read != rows {
            let cut = format!("column {name} has {read} of {rows} values");
            return Err(ParquetError::EOF(cut));
        }
        if !is_optional {
            return Ok(values.into_iter().map(Some).collect());
        }
        let mut values = values.into_iter();
        let value = |level: i16| (level > 0).then(|| values.next()).flatten();
        Ok(levels.into_iter().map(value).collect())
    }
}
