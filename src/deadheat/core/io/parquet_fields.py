"""The numbers of the fields in Parquet's structures, as parquet.thrift of apache/parquet-format has them."""


class FileMeta:
    """Fields of FileMetaData, the footer of a file."""

    VERSION = 1
    SCHEMA = 2
    N_ROWS = 3
    ROW_GROUPS = 4


class SchemaElement:
    """Fields of SchemaElement, a column or a group of columns."""

    TYPE = 1
    REPETITION = 3
    NAME = 4
    N_CHILDREN = 5


class RowGroup:
    """Fields of RowGroup."""

    CHUNKS = 1
    N_BYTES = 2
    N_ROWS = 3


class ColumnChunk:
    """Fields of ColumnChunk, one column of a row group. The length of an index has the number after its place."""

    FILE_PATH = 1
    FILE_OFFSET = 2
    META = 3
    OFFSET_INDEX = 4
    COLUMN_INDEX = 6


class ColumnMeta:
    """Fields of ColumnMetaData."""

    TYPE = 1
    ENCODINGS = 2
    PATH = 3
    CODEC = 4
    N_VALUES = 5
    N_UNPACKED = 6
    N_PACKED = 7
    DATA_START = 9
    DICTIONARY_START = 11


class PageHeader:
    """Fields of PageHeader; it has one of the last three."""

    TYPE = 1
    N_UNPACKED = 2
    N_PACKED = 3
    DATA = 5
    DICTIONARY = 7
    DATA_V2 = 8


class DataPage:
    """Fields of DataPageHeader, and of DictionaryPageHeader, which has the first two."""

    N_VALUES = 1
    ENCODING = 2
    DEFINITION_ENCODING = 3
    REPETITION_ENCODING = 4


class DataPageV2:
    """Fields of DataPageHeaderV2, whose levels are never compressed."""

    N_VALUES = 1
    N_NULLS = 2
    N_ROWS = 3
    ENCODING = 4
    DEFINITION_BYTES = 5
    REPETITION_BYTES = 6
    IS_COMPRESSED = 7
