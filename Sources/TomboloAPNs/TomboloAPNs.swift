// TomboloAPNs
