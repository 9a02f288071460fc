// TomboloSQLite
