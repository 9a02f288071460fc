// TomboloServer
