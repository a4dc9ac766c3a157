import { CommandError } from '../command-line.ts'

/**
 * The URL at which a gateway serves MCP. A URL with a path is used as it is, without `mount`. Throws `CommandError` for
 * a URL that is not one of HTTP.
 */
export function mcpUrl(gateway: string, mount = '/mcp'): URL {
  if (!URL.canParse(gateway)) throw new CommandError(`--url: "${gateway}" is not a URL`)
  const url = new URL(gateway)
  if (!['http:', 'https:'].includes(url.protocol)) {
    throw new CommandError(`--url: must begin with http:// or https://, not ${url.protocol}//`)
  }
  return url.pathname === '/' ? new URL(mount, url) : url
}
