// TomboloCrypto
