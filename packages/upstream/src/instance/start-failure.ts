import { describeCause } from '../errors/describe-cause.ts'
import { LaunchError } from '@mcp-host/process'
import type { Mask } from '../errors/mask-secrets.ts'
import { kindOf, type ServerConfig } from '../endpoints/index.ts'
import { EndedError } from './connect.ts'

export interface FailedStart {
  readonly config: ServerConfig
  /** The mask that was applied to the cause. */
  readonly mask: Mask
  /** Aborted when the start took too long. */
  readonly limit: AbortSignal
  readonly limitMs: number
  /** Aborted when the server is stopped. */
  readonly stopping: AbortSignal
  /** The launcher that may have had to fetch the program. */
  readonly installer: string | undefined
  /** Whether its process wrote lines to stdout that are no messages. */
  readonly hasStdout: boolean
}

const STDOUT =
  '; it wrote text to its standard output, where only MCP messages may be: check that the command starts an MCP server over stdio, and that the server logs to stderr'

const LOGIN =
  '; where users log in there, add "auth": { "type": "oauth" } to its entry, else a header with its token'

/** The reason of a failed start: the rest of a sentence that begins with the server. */
export function startFailure(
  cause: unknown,
  { config, mask, installer, hasStdout, limit, limitMs, stopping }: FailedStart,
): string {
  if (cause instanceof LaunchError) return `cannot start: ${cause.message}`
  if (stopping.aborted) return 'was stopped before it was ready'
  const address = kindOf(config).address(config)
  const where = address === undefined ? '' : ` (${address.shown})`
  const advice = hasStdout ? STDOUT : ''
  if (limit.aborted) {
    const remedy =
      installer === undefined
        ? ''
        : `, in which "${installer}" may have had to fetch it; allow more with "startTimeoutMs"`
    return `was not ready within ${limitMs} ms${where}${remedy}${advice}`
  }
  if (cause instanceof EndedError) return `${cause.message} before it was ready${where}${advice}`
  // The cause follows in the message.
  const reason = describeCause(cause).replace(/^Version negotiation probe failed: /, '')
  if (address === undefined) return `cannot start: ${reason}`
  const login = !('auth' in config) && /\b401\b/.test(reason) ? LOGIN : ''
  return `cannot start: ${reason.replaceAll(mask(address.whole), address.shown)}${where}${login}`
}
