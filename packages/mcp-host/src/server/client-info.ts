import { VERSION } from '../version.ts'

/** The client info for servers. */
export const CLIENT_INFO = { name: 'mcp-host', version: VERSION }
