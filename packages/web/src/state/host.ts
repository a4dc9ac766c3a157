import { HostApi } from '@mcp-host/client'

/** The host that served this page. */
export const HOST_URL = location.origin

export const host = new HostApi({ url: HOST_URL })
