// docker-compose.yml as its user sees it: images are built, everything starts, clients log in, services are scaled.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import {
  ChatSocket,
  ComposeProject,
  eventually,
  FormBrowser,
  missingForCompose,
  testFolder,
} from '@mcp-host/testkit'
import { freePort } from '@mcp-host/tools/host'
import { chmod, cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { dashboards } from '../tools/dashboards/index.ts'
import { FOUND, looksInContainer, spyServers } from './spy.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const OTHER_SECRET = 'secret-of-the-other-server'
const PASSWORD = 'correct horse battery'
const SERVICES = ['gateway', 'orchestrator', 'mcp-supervisor', 'llm-worker']
const MAX_IMAGE_BYTES = 250_000_000
/** With images and packages that are there. */
const START_LIMIT_MS = 90_000

const missing = missingForCompose()
const reason = missing === undefined ? '' : ` (skipped: there is no ${missing})`

const open = new AsyncDisposableStack()
let project: ComposeProject
let env: Record<string, string>
let url: string
let upAfterMs: number

describe.skipIf(missing !== undefined)(`the compose file${reason}`, () => {
  beforeAll(async () => {
    const folder = open.use(await testFolder())
    const ports = await Promise.all([freePort(), freePort(), freePort()])
    const [PORT = '', PROMETHEUS_PORT = '', GRAFANA_PORT = ''] = ports.map(String)
    url = `http://127.0.0.1:${PORT}`
    const settings = {
      AUTH: 'local,keys',
      LIMIT_REQUESTS: '1000/s',
      GEMINI_API_KEY: 'secret-of-the-model',
    }
    env = { ...settings, PORT, PROMETHEUS_PORT, GRAFANA_PORT }
    const demo = { LLM_PROVIDER: 'demo', DEMO_TOKENS_PER_SECOND: '0' }
    const config = join(folder.path, 'config')
    await cp('deploy/compose/config', config, { recursive: true })
    const mcpJson = join(config, 'mcp.json')
    const spies = JSON.stringify(spyServers('node')).slice(1, -1)
    const text = await readFile(mcpJson, 'utf8')
    await writeFile(
      mcpJson,
      text.replace(/"servers": \{/, (begin) => `${begin}${spies},`),
    )
    await writeFile(join(config, 'llm.json'), JSON.stringify({ providers: {} }))
    // As of an operator who closes nothing.
    await chmod(config, 0o755)
    project = open.use(
      await ComposeProject.build({
        name: 'mcp-host-test',
        folder: folder.path,
        services: {
          'llm-worker': { environment: demo },
          'mcp-supervisor': {
            environment: { OTHER_TOKEN: OTHER_SECRET },
            volumes: [`${config}:/etc/mcp-host/config:ro`],
          },
        },
        env,
      }),
    )
    const startedAt = performance.now()
    await project.up()
    await serves()
    upAfterMs = performance.now() - startedAt
  }, 1_200_000)
  afterAll(() => open.disposeAsync(), 120_000)

  test('the host serves the chat within 90 seconds', () => {
    expect(upAfterMs).toBeLessThan(START_LIMIT_MS)
  })

  test('the first admin logs in by the link in the log, gets the web UI, and chats with a tool', async () => {
    const browser = await firstAdmin()
    const headers = { cookie: browser.cookies(), accept: 'text/html' }
    const page = await (await fetch(url, { headers })).text()
    const [program = ''] = /\/assets\/app-[\w-]+\.js/.exec(page) ?? []
    const { length } = await (await fetch(new URL(program, url), { headers })).text()
    expect(length).toBeGreaterThan(50_000)
    using chat = await ChatSocket.open({ url, headers: { cookie: browser.cookies(), origin: url } })
    await eventually(() => lists(browser), { what: 'the servers', limitMs: 60_000 })
    chat.say('list the directory /files')
    await chat.turnsDone()
    expect(chat.text).toContain('welcome.txt')
  })

  test('MCP clients use the program and the remote server with a key, and are refused without', async () => {
    const response = await fetch(`${url}/mcp`, { method: 'POST', body: '{}' })
    expect(response.status).toBe(401)
    await using client = await connect(await createKey('reader'))
    await eventually(async () => (await toolsOf(client)).length >= 2, { limitMs: 60_000 })
    const names = (await client.listTools()).tools.map(({ name }) => name)
    expect(names).toContain('filesystem__list_directory')
    expect(names).toContain('everything__echo')
    const echo = { name: 'everything__echo', arguments: { message: 'hello' } }
    expect(JSON.stringify(await client.callTool(echo))).toContain('hello')
  })

  test('images are small, and their containers restricted', async () => {
    for (const service of SERVICES) {
      const [id = ''] = await project.containersOf(service)
      const container = await project.inspect(id)
      const isSupervisor = service === 'mcp-supervisor'
      expect(container.Config.User).toBe(isSupervisor ? '0:0' : '1000:1000')
      expect(container.HostConfig).toMatchObject({ ReadonlyRootfs: true, CapDrop: ['ALL'] })
      const size = await project.docker(
        'image',
        'inspect',
        '--format',
        '{{.Size}}',
        container.Image,
      )
      expect(Number(size)).toBeLessThan(MAX_IMAGE_BYTES)
      await expect(project.docker('exec', id, 'cat', '/run/bus.nk')).resolves.toContain(
        `of ${service}`,
      )
      await expect(project.docker('exec', id, 'gcc', '--version')).rejects.toThrow()
    }
  })

  test('a spy among the MCP servers finds no secret of the host or of other servers', async () => {
    await using client = await connect(await createKey('spy'))
    const run = async (server: string, script: string): Promise<string> => {
      const call = { name: `${server}__run`, arguments: { script } }
      return JSON.stringify(await client.callTool(call))
    }
    expect(await run('other', 'echo $TOKEN; cd; echo literal-of-another > file')).toContain(
      OTHER_SECRET,
    )
    for (const [what, script] of Object.entries(looksInContainer)) {
      const found = await run('spy', script)
      for (const secret of [OTHER_SECRET, 'secret-of-the-model']) {
        expect.soft(found, what).not.toContain(secret)
      }
      expect.soft(found, what).not.toMatch(FOUND)
    }
    expect(await run('other', 'echo it runs')).toContain('it runs')
  })

  test('a service gets its own settings alone', async () => {
    const [id = ''] = await project.containersOf('gateway')
    const { Config } = await project.inspect(id)
    expect(Config.Env).toContain('LIMIT_REQUESTS=1000/s')
    expect(Config.Env.join()).not.toContain('GEMINI_API_KEY')
    await expect(project.docker('exec', id, 'ls', '/run/bus.nk', '/bus/tools.nk')).rejects.toThrow(
      'tools.nk',
    )
  })

  test('three of each service share the work, restart in turn, and one of each may be killed', async () => {
    const scale = SERVICES.flatMap((service) => ['--scale', `${service}=3`])
    await project.compose('up', '--detach', '--no-build', ...scale)
    const gateways = await project.containersOf('gateway')
    expect(gateways.length).toBe(3)
    for (const id of gateways) {
      await eventually(() => metric(id, 'sockets_connected').catch(() => undefined), {
        what: 'a gateway that has started',
        limitMs: 60_000,
      })
    }
    const header = await createKey('scale')
    const clients = await Promise.all(Array.from({ length: 6 }, () => connect(header)))
    const chats = await Promise.all(
      // So many that each gateway has some, wherever the proxy sends them.
      Array.from({ length: 30 }, () => ChatSocket.open({ url, headers: header })),
    )
    const message = (text: string) => ({ name: 'everything__echo', arguments: { message: text } })
    const sockets = await Promise.all(gateways.map((id) => metric(id, 'sockets_connected')))
    expect(Math.min(...sockets)).toBeGreaterThan(0)

    // A rolling restart costs MCP clients no error.
    const stop = new AbortController()
    const calls = clients.map(async (client) => {
      let count = 0
      for (; !stop.signal.aborted; count++) await client.callTool(message('again'))
      return count
    })
    for (const id of gateways) {
      await project.docker('stop', id)
      await project.start(id)
    }
    stop.abort()
    expect(Math.min(...(await Promise.all(calls)))).toBeGreaterThan(10)

    for (const service of SERVICES) {
      const [victim = ''] = await project.containersOf(service)
      await project.docker('kill', victim)
      // A client comes back to any other gateway.
      using chat = await eventually(() =>
        ChatSocket.open({ url, headers: header }).catch(() => undefined),
      )
      chat.say(`echo after the end of a ${service}`)
      await chat.turnsDone()
      expect(chat.text).not.toBe('')
      await eventually(() => clients[0]?.callTool(message(service)).catch(() => undefined), {
        what: `a call after the end of a ${service}`,
        limitMs: 30_000,
      })
    }
    for (const chat of chats) chat[Symbol.dispose]()
    for (const client of clients) await client.close()
  }, 300_000)

  test('Prometheus reads every service, and Grafana has the dashboards', async () => {
    const services = async () =>
      (await query('count by (service) (mcp_host_broker_connected == 1)'))
        .map(({ metric: { service } }) => service)
        .toSorted()
        .join()
    await eventually(async () => (await services()) === SERVICES.toSorted().join(), {
      what: 'metrics of every service',
      limitMs: 60_000,
    })
    const response = await fetch(`http://127.0.0.1:${env['GRAFANA_PORT']}/api/search`)
    const found = (await response.json()) as { readonly uid: string }[]
    expect(found.map(({ uid }) => uid).toSorted()).toEqual(
      Object.values(dashboards)
        .map(({ uid }) => uid)
        .toSorted(),
    )
  })

  test('the panels of the overview have data', async () => {
    const panels = dashboards['overview']?.rows.flatMap((row) => row.panels) ?? []
    expect(panels).not.toEqual([])
    const hasData = async ({ queries }: (typeof panels)[number]) => {
      const results = await Promise.all(queries.map(({ expr }) => query(expr)))
      return results.some((result) => result.length > 0)
    }
    // A rate has a value after two readings.
    let empty: string[] = []
    await eventually(
      async () => {
        const isThere = await Promise.all(panels.map(hasData))
        empty = panels.flatMap(({ title }, index) =>
          isThere[index] === true || title === 'Requests that get an error' ? [] : [title],
        )
        return empty.length === 0
      },
      { what: 'data in every panel', limitMs: 60_000 },
    )
  })
})

interface Answer {
  readonly data: { readonly result: readonly { readonly metric: { readonly service: string } }[] }
}

/** The samples of a query at Prometheus. */
async function query(expr: string): Promise<Answer['data']['result']> {
  const prometheus = `http://127.0.0.1:${env['PROMETHEUS_PORT']}`
  const text = encodeURIComponent(expr.replaceAll('$__rate_interval', '5m'))
  const response = await fetch(`${prometheus}/api/v1/query?query=${text}`)
  return ((await response.json()) as Answer).data.result
}

async function serves(): Promise<void> {
  const isThere = async () => (await fetch(`${url}/ready`).catch(() => undefined))?.ok === true
  await eventually(isThere, { what: 'the gateway', limitMs: 120_000 })
}

/** The value of a metric of the host in a container. */
async function metric(id: string, name: string): Promise<number> {
  const program =
    "fetch('http://127.0.0.1:9464/metrics').then(async (r) => console.log(await r.text()))"
  const text = await project.docker('exec', id, 'node', '--eval', program)
  return Number(new RegExp(`^mcp_host_${name}(?:{.*})? (.*)$`, 'm').exec(text)?.[1] ?? Number.NaN)
}

async function firstAdmin(): Promise<FormBrowser> {
  const [link = ''] =
    /http:\S+\/invite\/[\w-]+/.exec(await project.compose('logs', 'gateway')) ?? []
  const browser = new FormBrowser(url)
  const form = await browser.open(link)
  await browser.submit(form, { name: 'ann', password: PASSWORD, again: PASSWORD })
  return browser
}

/** Whether the file server is there. */
async function lists(browser: FormBrowser): Promise<boolean> {
  const response = await fetch(`${url}/health`, { headers: { cookie: browser.cookies() } })
  return /"filesystem"[^}]*"ready"/.test(await response.text())
}

async function createKey(name: string): Promise<{ readonly authorization: string }> {
  const output = await project.compose('run', '--rm', 'tools', 'keys', 'create', name)
  return { authorization: `Bearer ${/mh_\w+/.exec(output)?.[0]}` }
}

async function connect(headers: Record<string, string>): Promise<Client & AsyncDisposable> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
  )
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() })
}

/** The servers that have tools. */
async function toolsOf(client: Client): Promise<string[]> {
  const { tools } = await client.listTools()
  return [...new Set(tools.map(({ name }) => name.split('__')[0] ?? ''))]
}
