/// What answers requests.
package protocol HTTPHandler: Sendable {
    /// One call for each request, as a child task of the server on its loop; the calls of one
    /// server take turns on one thread. The response is finished when it returns: without one, the
    /// server answers 500 (or 408, 413, 400 after an error of the body); a response that was begun
    /// and not finished is reset.
    func handle(_ exchange: HTTPExchange) async

    /// A peer has connected, and speaks HTTP; on the loop, before its first request.
    func opened(_ connection: HTTPServerConnection)

    /// The connection has ended. Its last handlers may still run.
    func closed(_ connection: HTTPServerConnection)
}

extension HTTPHandler {
    package func opened(_ connection: HTTPServerConnection) {}
    package func closed(_ connection: HTTPServerConnection) {}
}
