// TomboloHTTP
