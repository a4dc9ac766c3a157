import { host } from './host.ts'
import { loadModels } from './models.ts'
import { Store } from './store.ts'

const POLL_MS = 15_000

/** Names of MCP servers that do not work at the moment. */
export const missingServers = new Store<readonly string[]>([])

/** What users are told while maintenance is announced. */
export const maintenance = new Store<string | undefined>(undefined)

async function look(): Promise<void> {
  try {
    const { servers = [], maintenance: announced } = await host.status()
    maintenance.set(
      announced && `Maintenance: no new messages are taken. ${announced.notice}`.trim(),
    )
    const missing = servers.flatMap(({ server, state }) => (state === 'unavailable' ? server : []))
    // The same list makes no component draw again.
    if (missing.join() !== missingServers.get().join()) missingServers.set(missing)
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
