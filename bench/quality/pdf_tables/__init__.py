"""How surely the cells of tables in PDFs get the names of their columns: drawn tables, and pages of real files."""
