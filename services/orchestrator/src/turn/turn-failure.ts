import type { ErrorInfo } from '@mcp-host/contracts'

/** Why a turn cannot go on, in words for the user: it ends, instead of being tried again. */
export class TurnFailure extends Error {
  override readonly name = 'TurnFailure'
  readonly info: ErrorInfo

  constructor(info: ErrorInfo) {
    super(info.message)
    this.info = info
  }
}
