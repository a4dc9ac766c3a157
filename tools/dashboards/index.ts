import { bus } from './bus.ts'
import { chat } from './chat.ts'
import type { Dashboard } from './dashboard.ts'
import { mcpServers } from './mcp-servers.ts'
import { models } from './models.ts'
import { overview } from './overview.ts'

/** The dashboards by the name of their file. */
export const dashboards: Readonly<Record<string, Dashboard>> = {
  overview,
  chat,
  'mcp-servers': mcpServers,
  models,
  bus,
}
