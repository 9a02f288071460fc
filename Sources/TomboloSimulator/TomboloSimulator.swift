// TomboloSimulator
