// TomboloLoop
