"""Programs and those who solve them: the only room that knows PuLP and HiGHS."""
