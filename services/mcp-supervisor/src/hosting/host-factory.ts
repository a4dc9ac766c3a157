import type { Logger } from '@mcp-host/service'
import type { MCPHostOptions, ServerRequestCallback, ServerRequestKind } from 'mcp-host'
import { MCPHost } from 'mcp-host'

/** Answers to the requests of a server. */
export interface HostAnswers {
  readonly callback: ServerRequestCallback
  readonly kinds: readonly ServerRequestKind[]
  /** Capabilities of the client that answers; without them a server may use all of the kinds in every way. */
  readonly capabilities?: object
  /** Whose process it is, for the log. */
  readonly sessionId?: string
}

export type MakeHost = (answers: HostAnswers) => MCPHost

/** Makes hosts that have one server each. */
export function hostFactory(
  options: Omit<MCPHostOptions, 'logger'> & { readonly logger: Logger },
): MakeHost {
  return ({ callback, kinds, capabilities, sessionId }) => {
    const { logger } = options
    const host = new MCPHost({
      ...options,
      logger: sessionId === undefined ? logger : logger.child({ sessionId }),
      startPolicy: 'best-effort',
      // The server has its own limit.
      startAllTimeoutMs: Infinity,
      ...(capabilities === undefined ? {} : { clientCapabilities: capabilities }),
    })
    host.registerCallback(callback, kinds)
    return host
  }
}
