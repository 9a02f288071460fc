// TomboloRelay
