/** The error for a message of which a transport has sent nothing. */
export class UnsentError extends Error {
  override readonly name = 'UnsentError'
}
