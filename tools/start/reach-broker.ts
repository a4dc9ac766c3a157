import { once } from 'node:events'
import { connect } from 'node:net'
import { parseNatsUrl } from '@mcp-host/bus'

const LIMIT_MS = 2_000
const DEFAULT_PORT = 4222

/** Why none of the servers of a NATS URL can be reached, without its credentials; `undefined` when one can. */
export async function unreachableBroker(natsUrl: string): Promise<string | undefined> {
  const { servers = [] } = parseNatsUrl(natsUrl)
  const faults = await Promise.all([servers].flat().map(connectFault))
  return faults.includes(undefined) ? undefined : faults.join('; ')
}

async function connectFault(server: string): Promise<string | undefined> {
  const { hostname, port, host } = new URL(server)
  const socket = connect(Number(port) || DEFAULT_PORT, hostname.replace(/^\[(.*)\]$/, '$1'))
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(LIMIT_MS) })
    return undefined
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'AbortError'
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    return `${host} ${isLate ? `does not answer within ${LIMIT_MS / 1_000} s` : `cannot be reached (${code})`}`
  } finally {
    socket.destroy()
  }
}
