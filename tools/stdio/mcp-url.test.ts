import { expect, test } from 'vitest'
import { mcpUrl } from './mcp-url.ts'

test.each([
  ['http://127.0.0.1:3000', undefined, 'http://127.0.0.1:3000/mcp'],
  ['http://127.0.0.1:3000/', '/mcp/servers/x', 'http://127.0.0.1:3000/mcp/servers/x'],
  ['https://mcp.example/tools', undefined, 'https://mcp.example/tools'],
])('%s with %s is %s', (gateway, mount, place) => {
  expect(mcpUrl(gateway, mount).href).toBe(place)
})

test.each(['nonsense', 'ftp://127.0.0.1'])('%s is refused', (gateway) => {
  expect(() => mcpUrl(gateway)).toThrow('--url')
})
