import type { ErrorInfo } from '@mcp-host/contracts'

/** The error that ends a turn without a retry, in words for the user. */
export class TurnFailure extends Error {
  override readonly name = 'TurnFailure'
  readonly info: ErrorInfo

  constructor(info: ErrorInfo) {
    super(info.message)
    this.info = info
  }
}
