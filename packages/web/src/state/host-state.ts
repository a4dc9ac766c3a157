import type { ServerStatus } from '@mcp-host/client'
import { host } from './host.ts'
import { Latest } from './latest.ts'
import { loadModels } from './models.ts'
import { Store } from './store.ts'

const POLL_MS = 15_000

const reads = new Latest()

/** The MCP servers of the host; `undefined` until they are known. */
export const servers = new Store<readonly ServerStatus[] | undefined>(undefined)

/** What users are told while maintenance is announced. */
export const maintenance = new Store<string | undefined>(undefined)

/** Reads the state of the host. Throws `HostError`. */
export async function readHost(): Promise<void> {
  const isLatest = reads.begin()
  const { servers: read = [], maintenance: announced } = await host.status()
  if (!isLatest()) return
  maintenance.set(announced && `Maintenance: no new messages are taken. ${announced.notice}`.trim())
  // The same list makes no component draw again.
  if (JSON.stringify(read) !== JSON.stringify(servers.get())) servers.set(read)
}

async function look(): Promise<void> {
  try {
    await readHost()
    // A model may come, or fail, later than the page.
    await loadModels()
  } catch {
    // The state of the connection says what is wrong.
  }
}

/** Follows the state of the host while the page is visible. */
export function followHost(): () => void {
  void look()
  const timer = setInterval(() => document.hidden || void look(), POLL_MS)
  return () => clearInterval(timer)
}
