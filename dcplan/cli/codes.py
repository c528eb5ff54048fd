"""Exit codes: 0 yes; 1 the answer is no; 2 could not answer; 130 interrupted; 141 the reader of stdout left."""

OK, NO, TROUBLE, INTERRUPTED, READER_GONE = 0, 1, 2, 130, 141
