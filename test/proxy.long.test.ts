import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { request as requestTls } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { eventually } from '@mcp-host/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../tools/host/listen.ts'

const run = promisify(execFile)
const PROXY = join(import.meta.dirname, '..', 'deploy', 'proxy')
const GREETING = { error: { code: 'unavailable', message: 'of the gateway' } }

function hasNginx(): boolean {
  try {
    execFileSync('nginx', ['-v'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const isAble = hasNginx()
const unless = isAble ? '' : ' (does not run here: it needs nginx)'

describe.skipIf(!isAble)(`the proxy of the compose file${unless}`, () => {
  let folder: string
  let nginx: ReturnType<typeof execFile>
  let ports: Record<'plain' | 'tls' | 'redirect' | 'gateway', number>

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mcp-host-proxy-'))
    ports = {
      plain: await freePort(),
      tls: await freePort(),
      redirect: await freePort(),
      gateway: await freePort(),
    }
    // The files as they are, at free ports of this machine.
    const changes: (readonly [string, string])[] = [
      ['listen 3000', `listen 127.0.0.1:${ports.plain}`],
      ['listen 3443', `listen 127.0.0.1:${ports.tls}`],
      ['listen 3080', `listen 127.0.0.1:${ports.redirect}`],
      ['set $gateway gateway', 'set $gateway 127.0.0.1'],
      ['$gateway:3000', `$gateway:${ports.gateway}`],
      ['/tmp/', `${folder}/`],
      // nginx cannot open what is a socket.
      ['/dev/stderr', `${folder}/error.log`],
      // Older versions of nginx do not know it.
      ['http2 on;', ''],
    ]
    for (const file of ['nginx.conf', 'gateway.conf', 'tls.conf']) {
      const source = await readFile(join(PROXY, file), 'utf8')
      const changed = changes.reduce((all, [from, to]) => all.replaceAll(from, to), source)
      await writeFile(join(folder, file), changed)
    }
    const certificates = join(folder, 'certificates')
    await mkdir(certificates)
    const names = ['-keyout', 'privkey.pem', '-out', 'fullchain.pem', '-subj', '/CN=localhost']
    await run('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...names], {
      cwd: certificates,
    })
    nginx = execFile('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf'), '-g', 'daemon off;'])
    await eventually(() => get('plain').catch(() => undefined), { what: 'an answer of nginx' })
  })

  afterAll(async () => {
    if (nginx.kill()) await once(nginx, 'exit')
    await rm(folder, { recursive: true })
  })

  test('answers in JSON while no gateway does', async () => {
    for (const port of ['plain', 'tls'] as const) {
      const { response, body } = await get(port)
      expect(response.statusCode).toBe(502)
      expect(response.headers['content-type']).toBe('application/json')
      expect(JSON.parse(body)).toMatchObject({ error: { code: 'unavailable' } })
    }
  })

  test('answers a request that is too large in JSON', async () => {
    const { response, body } = await get('plain', { 'content-length': `${33 * 1024 * 1024}` })
    expect(response.statusCode).toBe(413)
    expect(JSON.parse(body)).toMatchObject({ error: { code: 'invalid' } })
  })

  test('does not change what a gateway answers', async () => {
    const gateway = createServer((_, response) => {
      response.writeHead(502, { 'content-type': 'application/json' }).end(JSON.stringify(GREETING))
    })
    await once(gateway.listen(ports.gateway, '127.0.0.1'), 'listening')
    const { response, body } = await get('tls')
    expect(response.statusCode).toBe(502)
    expect(JSON.parse(body)).toEqual(GREETING)
    gateway.close()
    await once(gateway, 'close')
  })

  test('demands TLS of browsers that came by TLS, on every answer', async () => {
    const { response } = await get('tls')
    expect(response.headers['strict-transport-security']).toBe('max-age=31536000')
    expect((await get('plain')).response.headers).not.toHaveProperty('strict-transport-security')
    const moved = await get('redirect')
    expect(moved.response.statusCode).toBe(308)
    expect(moved.response.headers.location).toMatch(/^https:/)
  })

  async function get(
    port: 'plain' | 'tls' | 'redirect',
    headers: Record<string, string> = {},
  ): Promise<{ readonly response: IncomingMessage; readonly body: string }> {
    const options = { host: '127.0.0.1', port: ports[port], agent: false, headers }
    const asked =
      port === 'tls' ? requestTls({ ...options, rejectUnauthorized: false }) : request(options)
    // Of a body that is announced, nothing is sent.
    asked.flushHeaders()
    if (headers['content-length'] === undefined) asked.end()
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    const body = await text(response)
    asked.destroy()
    return { response, body }
  }
})
