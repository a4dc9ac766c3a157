import { join } from 'node:path'

// The launcher names both to a starter that it has built. Processes that are started from here have no use for them.
const { MCP_HOST_ROOT, MCP_HOST_DIST } = process.env
delete process.env['MCP_HOST_ROOT']
delete process.env['MCP_HOST_DIST']

/** The folder of the workspace. */
export const root = MCP_HOST_ROOT || join(import.meta.dirname, '..')

/** The folder of the built services; without it they run from source. */
export const dist = MCP_HOST_DIST
