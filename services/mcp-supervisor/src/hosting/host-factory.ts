import { APPS_EXTENSION } from '@mcp-host/mcp'
import type { Logger } from '@mcp-host/service'
import type { MCPHostOptions } from 'mcp-host'
import type { ServerRequestCallback, ServerRequestKind } from '@mcp-host/upstream'
import { MCPHost } from 'mcp-host'

/** The web UI shows MCP apps; some servers offer their tools for apps only to hosts that say so. */
const EXTENSIONS = { [APPS_EXTENSION]: { mimeTypes: ['text/html;profile=mcp-app'] } }

/** The callback for the requests of a server. */
interface HostAnswers {
  readonly callback: ServerRequestCallback
  readonly kinds: readonly ServerRequestKind[]
  /** Capabilities of the client that answers. Default: all that the kinds include. */
  readonly capabilities?: object
  /** The session or client of a dedicated process, for the log. */
  readonly sessionId?: string
}

export type MakeHost = (answers: HostAnswers) => MCPHost

/** Creates hosts with one server each. */
export function hostFactory(
  options: Omit<MCPHostOptions, 'logger'> & { readonly logger: Logger },
): MakeHost {
  return ({ callback, kinds, capabilities, sessionId }) => {
    const { logger } = options
    const host = new MCPHost({
      ...options,
      logger: sessionId === undefined ? logger : logger.child({ sessionId }),
      startPolicy: 'best-effort',
      extensions: EXTENSIONS,
      // The server has its own time limit.
      startAllTimeoutMs: Infinity,
      ...(capabilities === undefined ? {} : { clientCapabilities: capabilities }),
    })
    host.registerCallback(callback, kinds)
    return host
  }
}
