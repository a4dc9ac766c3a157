/** Where a gateway speaks MCP. A URL with a path of its own is the place itself. Throws when it is no URL. */
export function mcpUrl(gateway: string, mount = '/mcp'): URL {
  if (!URL.canParse(gateway)) throw new Error(`--url: "${gateway}" is no URL`)
  const url = new URL(gateway)
  if (!['http:', 'https:'].includes(url.protocol)) {
    throw new Error(`--url: must begin with http:// or https://, not ${url.protocol}//`)
  }
  return url.pathname === '/' ? new URL(mount, url) : url
}
