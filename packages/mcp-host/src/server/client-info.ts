import { VERSION } from '../version.ts'

/** How the host introduces itself to servers. */
export const CLIENT_INFO = { name: 'mcp-host', version: VERSION }
