/// Answers requests.
package protocol HTTPHandler: Sendable {
    /// Handles one request, in a child task of the server on its loop. All calls of one server run
    /// on one thread. If the handler returns without an answer, the server answers 500. After an
    /// error of the body it answers 408, 413 or 400; while it stops, 503. If the handler returns
    /// without finishing a streaming answer, the answer is reset.
    func handle(_ exchange: HTTPExchange) async

    /// Called on the loop when a peer has connected and speaks HTTP, before its first request.
    func opened(_ connection: HTTPServerConnection)

    /// Called when the connection has ended. Its last handlers may still run.
    func closed(_ connection: HTTPServerConnection)
}

extension HTTPHandler {
    package func opened(_ connection: HTTPServerConnection) {}
    package func closed(_ connection: HTTPServerConnection) {}
}
