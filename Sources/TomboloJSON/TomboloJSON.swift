// TomboloJSON
