import { setTimeout as delay } from 'node:timers/promises'
import type { CatalogView } from '@mcp-host/bus'
import type { ServerView } from '@mcp-host/contracts'
import { viewServers } from '@mcp-host/contracts'
import type { Tools } from '../turn/turn.ts'
import { offeredTools } from './tool-names.ts'

/** How long a turn waits for servers that are just starting. */
const STARTING_PATIENCE_MS = 5_000

/** The tools of the catalog. */
export function catalogTools({ entries }: CatalogView): Tools {
  const servers = (): ServerView[] => viewServers(entries.values())
  return {
    async offered() {
      const giveUpAt = Date.now() + STARTING_PATIENCE_MS
      while (servers().some(({ state }) => state === 'starting') && Date.now() < giveUpAt) {
        await delay(50)
      }
      return offeredTools(servers())
    },
    isRepeatable({ server, tool }) {
      const tools = servers().find((entry) => entry.server === server)?.tools ?? []
      const annotations = tools.find(({ name }) => name === tool)?.annotations
      return annotations?.readOnlyHint === true || annotations?.idempotentHint === true
    },
  }
}
