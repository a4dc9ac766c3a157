// Prints the resident memory of this process in megabytes, after loading what the argument names.
const [, , name] = process.argv
if (name === 'sdk') {
  const { Client } = await import('@modelcontextprotocol/client')
  globalThis.kept = new Client({ name: 'bare', version: '1.0.0' })
}
if (name === 'host') {
  const { MCPHost } = await import('mcp-host')
  const host = new MCPHost({ env: {} })
  await host.initialize({ servers: {} })
  globalThis.kept = host
}
globalThis.gc?.()
process.stdout.write(String(Math.round(process.memoryUsage.rss() / 2 ** 20)))

declare global {
  var kept: unknown
}
