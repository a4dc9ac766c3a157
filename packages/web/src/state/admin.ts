import { AdminApi } from '@mcp-host/client'
import { HOST_URL } from './host.ts'

/** What pages for admins and accounts ask the host. */
export const admin = new AdminApi({ url: HOST_URL })
