/** Thrown by a transport's `send`: nothing of the message has gone out. */
export class UnsentError extends Error {
  override readonly name = 'UnsentError'
}
