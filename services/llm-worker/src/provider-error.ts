import { BusError } from '@mcp-host/contracts'

/** A failure of a provider, which may say when to come back. */
export class ProviderError extends BusError {
  readonly retryAfterMs: number | undefined

  constructor(
    code: BusError['code'],
    message: string,
    {
      retryAfterMs,
      ...options
    }: { retryAfterMs?: number; reason?: BusError['reason'] & {}; cause?: unknown } = {},
  ) {
    super(code, message, options)
    this.retryAfterMs = retryAfterMs
  }
}
