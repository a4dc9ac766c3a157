/** The error for a request that needs a login, where its user can only log in elsewhere. */
export class LoginNeededError extends Error {
  constructor() {
    super('its user has to log in first')
    this.name = 'LoginNeededError'
  }
}

/** Whether an error, or one of its causes, is that of a missing login. */
export function isLoginNeeded(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof LoginNeededError) return true
  }
  return false
}
