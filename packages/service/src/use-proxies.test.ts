import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { baseSettings } from './base-settings.ts'
import { loadConfig } from './settings.ts'
import { useProxies } from './use-proxies.ts'

beforeEach(() => {
  const before = getGlobalDispatcher()
  return () => setGlobalDispatcher(before)
})

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const use = (env: Record<string, string>) => useProxies(loadConfig(baseSettings, env))

test('requests go through the proxies of the settings, and those to this machine do not', async () => {
  const asked: unknown[] = []
  const proxy = createServer(({ method, url, headers }, response) => {
    asked.push([method, url, headers['proxy-authorization']])
    response.end('through the proxy')
  }).on('connect', ({ url }, socket) => {
    asked.push(['CONNECT', url])
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
  })
  const own = await listen(createServer((_, response) => response.end('from here')))
  const at = `me:secret@${await listen(proxy)}`
  const proxyFor = await use({ HTTP_PROXY: at, https_proxy: `http://${at}`, NO_PROXY: 'b.invalid' })
  const read = async (url: string): Promise<string> => (await fetch(url)).text()
  expect(await read('http://a.invalid/path?x=1')).toBe('through the proxy')
  expect(await read(`http://${own}`)).toBe('from here')
  await expect(read('https://a.invalid/')).rejects.toThrow('fetch failed')
  await expect(read('http://b.invalid/')).rejects.toThrow('fetch failed')
  const credential = `Basic ${Buffer.from('me:secret').toString('base64')}`
  expect(asked).toEqual([
    ['GET', 'http://a.invalid/path?x=1', credential],
    ['CONNECT', 'a.invalid:443'],
  ])
  expect(proxyFor(new URL('ws://a.invalid'))?.href).toBe(`http://${at}/`)
})

test('a variable in lower case wins, as with curl, and an empty one counts as absent', () => {
  const read = (env: Record<string, string>) => loadConfig(baseSettings, env)
  const upper = { HTTP_PROXY: 'upper:1', HTTPS_PROXY: 'upper:1', NO_PROXY: 'upper' }
  const lower = { http_proxy: 'lower:1', https_proxy: 'lower:1', no_proxy: 'lower' }
  const shown = ({ httpProxy, httpsProxy, noProxy }: ReturnType<typeof read>) =>
    [httpProxy, httpsProxy, noProxy].map(String)
  expect(shown(read({ ...upper, ...lower }))).toEqual(shown(read(lower)))
  expect(shown(read({ ...upper, no_proxy: '' }))).toEqual(shown(read(upper)))
  expect(shown(read(lower))).not.toEqual(shown(read(upper)))
})

test('without a proxy the dispatcher stays', async () => {
  const before = getGlobalDispatcher()
  const proxyFor = await use({ NO_PROXY: '*', HTTP_PROXY: '' })
  expect(getGlobalDispatcher()).toBe(before)
  expect(proxyFor(new URL('http://a.invalid'))).toBeUndefined()
})

test.each([
  'socks5://me:secret@a.invalid:1080',
  'http://me:secret@',
  'http://a b',
  'a.invalid:99999',
])('the proxy %s is a fault that is named without its value', (HTTPS_PROXY) => {
  const message = 'HTTPS_PROXY (not shown): must be http://[user:password@]host:port'
  const load = () => loadConfig(baseSettings, { HTTPS_PROXY })
  expect(load).toThrow(message)
  expect(load).not.toThrow('secret')
})
