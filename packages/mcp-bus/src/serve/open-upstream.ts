import type { Guardian } from '@mcp-host/process'
import { APPS_EXTENSION } from '@mcp-host/mcp'
import type { Logger } from '@mcp-host/service'
import { VERSION } from '@mcp-host/service'
import type {
  ServerConfig,
  ServerRequestCallback,
  ServerRequestKind,
  UpstreamEvents,
  UpstreamOptions,
  UserLogins,
} from '@mcp-host/upstream'
import { settleUpstreamOptions, Upstream } from '@mcp-host/upstream'

/** The web UI shows MCP apps; some servers offer their tools for apps only to hosts that say so. */
const EXTENSIONS = { [APPS_EXTENSION]: { mimeTypes: ['text/html;profile=mcp-app'] } }

/** Who answers the requests of a server. */
export interface UpstreamAnswers {
  readonly callback: ServerRequestCallback
  readonly kinds: readonly ServerRequestKind[]
  /** Capabilities of the client that answers. Default: all that the kinds include. */
  readonly capabilities?: object
  /** The session or client of a dedicated process, for the log. */
  readonly sessionId?: string
  /** How the user of the connection logs in at the server. */
  readonly logins?: UserLogins
}

/** Creates an MCP server that is not started yet. */
export type OpenUpstream = (
  name: string,
  config: ServerConfig,
  answers: UpstreamAnswers,
  events: UpstreamEvents,
) => Upstream

/** Creates the servers of a supervisor, with what they have in common. */
export function openUpstreams(
  guardian: Guardian,
  options: Omit<UpstreamOptions, 'logger'> & { readonly logger: Logger },
): OpenUpstream {
  const { logger } = options
  const clientInfo = { name: 'mcp-host', version: VERSION }
  const settled = settleUpstreamOptions({ ...options, clientInfo, extensions: EXTENSIONS })
  return (name, config, { callback, kinds, capabilities, sessionId, logins }, events) => {
    const own = {
      ...settled,
      ...(sessionId === undefined ? {} : { logger: logger.child({ sessionId }) }),
      ...(logins === undefined ? {} : { logins: () => logins }),
      ...(capabilities === undefined ? {} : { clientCapabilities: capabilities }),
    }
    const deps = { options: own, guardian, callback, answered: new Set(kinds), events }
    return new Upstream(deps, name, config)
  }
}
