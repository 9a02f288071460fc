// TomboloAPI
