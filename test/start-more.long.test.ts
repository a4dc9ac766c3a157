// `npm start`: restarts, services that stop, die or freeze, a file of settings, a broker of another, a full disk.
import { spawn } from 'node:child_process'
import { readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  canMount,
  ChatSocket,
  eventually,
  family,
  freeze,
  isAlive,
  runProgram,
  script,
  smallDisk,
  toolServer,
} from '@mcp-host/testkit'
import { readRunFile, startNatsServer } from '@mcp-host/tools/host'
import { Guardian } from '@mcp-host/process'
import { describe, expect, test } from 'vitest'
import { expectNoProcesses, StartStage } from './start-stage.ts'

const files = join(import.meta.dirname, '..', 'examples', 'files')
const stage = StartStage.forEachTest()

describe('npm start', () => {
  test('npm start replaces stopped and frozen services without errors for clients', async () => {
    const folder = join(stage.env['DATA_DIR'] ?? '', '..')
    const mcpJson = join(folder, 'mcp.json')
    const tools = [{ name: 'echo', inputSchema: { type: 'object' }, delayMs: 20 }]
    const works = toolServer(tools, join(folder, 'journal.jsonl'))
    await writeFile(mcpJson, JSON.stringify({ servers: { works } }))
    const host = await stage.start({ MCP_JSON_PATH: mcpJson, DEMO_SCRIPTED: 'true' })
    await host.says('Ctrl-C stops everything')
    const url = `http://127.0.0.1:${stage.env['PORT']}`
    const pidOf = async (name: string): Promise<number> => {
      const text = await readFile(join(stage.env['DATA_DIR'] ?? '', 'run.json'), 'utf8')
      const { processes } = JSON.parse(text) as { processes: { name: string; pid: number }[] }
      return processes.find((each) => each.name === name)?.pid ?? 0
    }
    // The process is kept over all restarts of the other services.
    const chat = await ChatSocket.open({ url })
    let isOver = false
    const answers = new Set<string>()
    const calls = (async () => {
      const params = { name: 'works__echo', arguments: {} }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
      const headers = { 'content-type': 'application/json' }
      while (!isOver) {
        const answer = await fetch(`${url}/mcp`, { method: 'POST', headers, body }).then(
          (response) => response.text(),
          (error: Error) => `${error.message} ${String(error.cause)}`,
        )
        answers.add(answer)
      }
    })()
    for (const name of ['llm-worker', 'orchestrator', 'mcp-supervisor', 'gateway']) {
      const before = await pidOf(name)
      process.kill(before, 'SIGTERM')
      chat.say(
        script({ text: name, calls: [{ name: 'works__echo', arguments: {} }] }, { text: '.' }),
      )
      await eventually(async () => (await pidOf(name)) !== before && !(await isAlive(before)), {
        limitMs: 40_000,
        what: `the end of the old ${name}`,
      })
    }
    const { code, reason } = await chat.hasClosed()
    expect(code).toBe(1012)
    const after = new URLSearchParams(reason).get('after') ?? ''
    using back = await ChatSocket.open({ url, sessionId: chat.sessionId, after })
    await eventually(
      () => chat.text + back.text === 'llm-worker.orchestrator.mcp-supervisor.gateway.',
    )
    isOver = true
    await calls
    expect([...answers]).toEqual([expect.stringContaining('"result":{"content"')])

    const frozen = await pidOf('orchestrator')
    await freeze(frozen)
    await host.says(`process ${frozen} does not answer /health, SIGTERM sent`)
    await eventually(async () => (await pidOf('orchestrator')) !== frozen, {
      limitMs: 40_000,
      what: 'a successor of the frozen orchestrator',
    })
    back.say(script({ text: 'again' }))
    await back.waitFor((frame) => frame.type === 'text' && frame.payload.content.includes('again'))
  })

  test('commands on the machine of a host need no credential where clients do', async () => {
    const host = await stage.start({ AUTH: 'local' })
    await host.says('Ctrl-C stops everything')
    const keyFile = join(stage.env['DATA_DIR'] ?? '', 'operator-key')
    expect((await stat(keyFile)).mode & 0o777).toBe(0o600)
    const key = (await readFile(keyFile, 'utf8')).trim()
    const ask = async (...args: string[]) => {
      const chat = stage.cleanup.use(await runProgram(['chat', ...args, 'hello'], stage.env))
      return { ...(await chat.ended()), output: chat.output() }
    }
    expect(await ask()).toMatchObject({ code: 0, output: expect.stringContaining('demo model') })
    // The gateway of another may be behind a URL.
    const url = ['--url', `http://127.0.0.1:${stage.env['PORT']}`]
    expect(await ask(...url)).toMatchObject({ code: 1 })
    expect(await ask(...url, '--token', key)).toMatchObject({ code: 0 })
    expect(await ask(...url, '--token', key.replace(/.$/, 'x'))).toMatchObject({ code: 1 })
    expect(host.output()).not.toContain(key)
  })

  test('npm start keeps sessions over a restart', async () => {
    const scripted = { DEMO_SCRIPTED: 'true' }
    const url = `http://127.0.0.1:${stage.env['PORT']}`
    const first = await stage.start(scripted)
    await first.says('Ctrl-C stops everything')
    const before = await ChatSocket.open({ url })
    before.say(script({ text: 'remember me' }))
    await before.turnsDone()
    const { sessionId } = before
    const begin = before.frames[0]?.type === 'connection' ? before.frames[0].id : undefined
    first.process.signal('SIGTERM')
    await first.ended()

    const second = await stage.start(scripted)
    await eventually(() => fetch(`${url}/health`).catch(() => undefined), { what: 'a gateway' })
    // No wait for readiness: requests wait themselves.
    const params = { name: 'everything__echo', arguments: { message: 'soon' } }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    const headers = { 'content-type': 'application/json' }
    using early = await ChatSocket.open({ url })
    const call = { name: 'everything__echo', arguments: { message: 'early' } }
    early.say(script({ calls: [call] }, { text: 'done' }))
    const [called, able] = await Promise.all([
      fetch(`${url}/mcp`, { method: 'POST', headers, body }).then((answer) => answer.text()),
      fetch(`${url}/capabilities`).then((answer) => answer.text()),
      early.turnsDone(),
    ])
    expect(called).toContain('Echo: soon')
    expect(able).toContain('everything__echo')
    expect(JSON.stringify(early.events)).toContain('Echo: early')
    await second.says('Ctrl-C stops everything')
    using after = await ChatSocket.open({ url, sessionId, after: begin ?? '' })
    await after.turnsDone()
    expect(after.text).toBe('remember me')
  })

  test('npm start is ready without a hanging server, prints changes, and ends silently without a reader', async () => {
    const folder = join(stage.env['DATA_DIR'] ?? '', '..')
    const mcpJson = join(folder, 'mcp.json')
    const seen = join(folder, 'seen.json')
    const program = `require('node:fs').writeFileSync(process.argv[1], JSON.stringify(process.env)); setInterval(() => {}, 1e6)`
    const hangs = { command: process.execPath, args: ['-e', program, seen] }
    const tools = [{ name: 'echo', inputSchema: { type: 'object' } }]
    const works = toolServer(tools, join(folder, 'journal.jsonl'))
    const configure = (servers: object): Promise<void> =>
      writeFile(mcpJson, JSON.stringify({ servers }, undefined, 2))
    await configure({ hangs })
    const network = { HTTPS_PROXY: 'http://127.0.0.1:9', npm_config_cafile: '/ca.pem' }
    const secret = { npm_config__authToken: 'secret-token' }
    const host = await stage.start({ MCP_JSON_PATH: mcpJson, ...network, ...secret })
    await host.says('Ctrl-C stops everything')
    expect(host.output()).toMatch(/server hangs +still starting after 2\.\d s/)
    // The variables that npx and similar programs need reach the servers.
    const environment: unknown = JSON.parse(await readFile(seen, 'utf8'))
    expect(environment).toMatchObject(network)
    expect(environment).not.toHaveProperty('npm_config__authToken')
    await configure({ hangs, works })
    await host.says('added: 1 tool')
    for (const pid of await family(host.process.pid)) {
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      if (command.includes('tool-server.ts')) process.kill(pid, 'SIGKILL')
    }
    await host.says('ready again: 1 tool')
    await configure({ hangs: { ...hangs, args: 'none' }, works })
    await host.says(`unavailable: ${mcpJson}:5:`)
    await writeFile(mcpJson, '{ "servers": ')
    await host.says('not taken over')
    await configure({ works })
    await host.says('mcp.json            taken over')
    await eventually(() => /server hangs +removed/.test(host.output()))
    host.process.stdout?.destroy()
    await configure({})
    expect(await host.ended()).toEqual({ code: 0, signal: null })
    expect(host.output()).not.toContain('EPIPE')
  })

  test('npm start leaves no processes when the launcher is killed', async () => {
    const host = await stage.start()
    await host.says('Ctrl-C stops everything')
    const pids = await family(host.process.pid)
    process.kill(host.process.pid, 'SIGKILL')
    await expectNoProcesses(pids)
  })

  test('npm start ends when the package manager that runs it is killed', async () => {
    const shell = startByShell(stage.env)
    await eventually(() => shell.output().includes('Ctrl-C stops everything'), { limitMs: 60_000 })
    const pids = await family(shell.pid)
    process.kill(shell.pid, 'SIGKILL')
    await expectNoProcesses(pids)
    await eventually(() => /mcp-host +stopped/.test(shell.output()))
  })

  test('npm start restarts a dead service', async () => {
    const host = await stage.start()
    await host.says('Ctrl-C stops everything')
    const runFile = join(stage.env['DATA_DIR'] ?? '', 'run.json')
    const pidOf = async (name: string): Promise<number> => {
      const { processes } = JSON.parse(await readFile(runFile, 'utf8')) as {
        processes: { name: string; pid: number }[]
      }
      return processes.find((each) => each.name === name)?.pid ?? 0
    }
    const dead = await Promise.all([pidOf('orchestrator'), pidOf('nats-server')])
    for (const pid of dead) process.kill(pid, 'SIGKILL')
    await eventually(async () => {
      const now = await Promise.all([pidOf('orchestrator'), pidOf('nats-server')])
      return !now.some((pid) => dead.includes(pid))
    })
    const chat = stage.cleanup.use(
      await runProgram(['chat', `list the directory ${files}`], stage.env),
    )
    expect(await chat.ended()).toEqual({ code: 0, signal: null })
  })

  test('npm run dev restarts a service whose sources change, and serves the web UI', async () => {
    const host = stage.cleanup.use(await runProgram(['dev'], stage.env))
    await host.says('Ctrl-C stops everything')
    const url = `http://127.0.0.1:${stage.env['PORT']}/`
    const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text()
    expect(page).toContain('<script type="module"')
    const source = 'services/llm-worker/src/main.ts'
    const now = new Date()
    await utimes(join(import.meta.dirname, '..', source), now, now)
    await host.says(`${source} changed`)
    await host.says(`${'llm-worker'.padEnd(20)}runs again`)
  })

  test('npm start takes settings from a file, and names faulty and unknown ones', async () => {
    const file = join(stage.env['DATA_DIR'] ?? '', '..', 'mcp-host.yaml')
    await writeFile(file, 'maxToolCalls: -1\nllm: { providr: demo }\nshade: dark\n')
    const faulty = await stage.start({ CONFIG_FILE: file })
    expect(await faulty.ended()).toMatchObject({ code: 2 })
    expect(faulty.output()).toContain('MAX_TOOL_CALLS=-1: must be from')
    expect(faulty.output()).toContain('LLM_PROVIDR is not a setting; did you mean LLM_PROVIDER?')
    expect(faulty.output()).toContain('SHADE is not a setting; the nearest is')
    await writeFile(file, `port: ${stage.env['PORT']}\n`)
    const host = await stage.start({ CONFIG_FILE: file, PORT: '' })
    await host.says(`http://127.0.0.1:${stage.env['PORT']}`)
  })

  test('npm start uses the nats-server of NATS_URL', async () => {
    await using guardian = new Guardian()
    const bin = process.env['NATS_SERVER_BIN'] ?? 'nats-server'
    const broker = await startNatsServer(guardian, {
      bin,
      dataDir: join(stage.env['DATA_DIR'] ?? '', 'foreign'),
    })
    const host = await stage.start({ NATS_URL: broker.url })
    await host.says('Ctrl-C stops everything')
    expect(host.output()).not.toContain('nats-server')
    const chat = stage.cleanup.use(await runProgram(['chat', 'echo hello there'], stage.env))
    expect(await chat.ended()).toEqual({ code: 0, signal: null })
    expect(chat.output()).toContain('Echo: hello there')
  })
})

/** Long enough for every write to have failed. */
const FULL_MS = 15_000
const isAble = await canMount()
const unless = isAble ? '' : ' (does not run here: it has to mount a tmpfs)'

describe.skipIf(!isAble)('npm start on a small disk', () => {
  test(`npm start starts twice on a disk that is smaller than what the buckets reserve${unless}`, async () => {
    const disk = stage.cleanup.use(await smallDisk(48))
    for (const start of ['first', 'second']) {
      const host = await stage.start({ DATA_DIR: join(disk.path, 'data') })
      await host.says('Ctrl-C stops everything')
      await host.says('less than STORE_MIN_FREE_MB=256')
      host.process.signal('SIGINT')
      expect(await host.ended(), start).toMatchObject({ code: 0 })
    }
  })

  test(`npm start survives a full disk, reports it, and answers again once there is space${unless}`, async () => {
    const disk = stage.cleanup.use(await smallDisk(64))
    const more = { DATA_DIR: join(disk.path, 'data'), STORE_MIN_FREE_MB: '8' }
    const host = await stage.start(more)
    await host.says('Ctrl-C stops everything')
    const url = `http://127.0.0.1:${stage.env['PORT']}`
    using chat = await ChatSocket.open({ url })
    chat.say('echo one')
    await chat.turnsDone()

    await disk.fill()
    await host.says('new messages are refused')
    chat.say('echo early')
    expect(await chat.waitFor((frame) => frame.type === 'error')).toMatchObject({
      payload: {
        code: 'unavailable',
        retryable: true,
        message: expect.stringContaining(`the disk at ${disk.path}/data/nats has 0 MB free`),
      },
    })
    const health = await (await fetch(`${url}/health`)).json()
    expect(health).toMatchObject({
      ok: true,
      status: 'degraded',
      storage: [expect.stringContaining('0 MB free')],
    })
    const { processes } = readRunFile(more.DATA_DIR) ?? { processes: [] }
    const at = (name: string) => processes.find((each) => each.name === name)
    process.kill(at('llm-worker')?.pid ?? 0, 'SIGKILL')
    await host.says('llm-worker          ended (SIGKILL)')
    const supervisor = at('mcp-supervisor')?.url
    // The supervisor renews its leases, so its writes fail first.
    await eventually(async () => (await fetch(`${supervisor}/ready`)).status === 503, {
      limitMs: 30_000,
      what: 'a supervisor that is not ready',
    })
    expect(await (await fetch(`${supervisor}/ready`)).text()).toContain('the host cannot store')
    await host.says('nothing can be stored')

    await disk.free()
    await host.says('messages are accepted again')
    await host.says('llm-worker          runs again')
    chat.say('echo two')
    await chat.turnsDone(2)
    expect(chat.text).toContain('two')
    expect(host.output()).toContain('nats-server stores nothing')
    host.process.signal('SIGTERM')
    await host.ended()
    await disk.fill()
    const full = await stage.start(more)
    expect(await full.ended()).toMatchObject({ code: 1 })
    expect(full.output()).toContain(`The disk at ${more.DATA_DIR} is full`)
  })

  test(`a message whose services were all killed while the disk was full is answered once there is space${unless}`, async () => {
    const disk = stage.cleanup.use(await smallDisk(64))
    const more = { DATA_DIR: join(disk.path, 'data'), STORE_MIN_FREE_MB: '8' }
    // JetStream still fills the last page of a file, so the answer has to be larger than one.
    const words = 4000
    const demo = { DEMO_SCRIPTED: 'true', DEMO_TOKENS_PER_SECOND: '400' }
    const host = await stage.start({ ...more, ...demo })
    await host.says('Ctrl-C stops everything')
    const url = `http://127.0.0.1:${stage.env['PORT']}`
    using chat = await ChatSocket.open({ url })
    chat.say(script({ tokens: words }))
    await eventually(() => chat.text.length > 20)
    await disk.fill()
    const { processes } = readRunFile(more.DATA_DIR) ?? { processes: [] }
    for (const { name, pid } of processes) if (name !== 'nats-server') process.kill(pid, 'SIGKILL')
    // Also a gateway that could not write a single byte serves those who read.
    const { sessionId, lastId } = chat
    using again = await eventually(
      () => ChatSocket.open({ url, sessionId, after: lastId }).catch(() => undefined),
      { limitMs: 60_000, what: 'a gateway on the full disk' },
    )
    await delay(FULL_MS)
    expect(again.frames.filter(({ type }) => type === 'turn')).toEqual([])
    await disk.free()
    await again.turnsDone()
    const history = await fetch(`${url}/api/chat/session/${sessionId}/messages`)
    const answer = Array.from({ length: words }, (_, index) => `w${index} `).join('')
    expect(await history.json()).toMatchObject({
      messages: [{ role: 'user' }, { role: 'assistant', content: answer }],
    })
  })
})

/** Runs `npm start` as npm does: below a shell, which stays. Nothing else ends what the shell has started. */
function startByShell(env: Readonly<Record<string, string>>) {
  const { PATH, HOME } = process.env
  const shell = spawn('sh', ['-c', 'node tools/run.mjs start; exit'], {
    cwd: join(import.meta.dirname, '..'),
    env: { PATH, HOME, ENV_FILE: 'none', npm_lifecycle_event: 'start', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  shell.stdout.setEncoding('utf8').on('data', (more: string) => {
    text += more
  })
  return { pid: shell.pid!, output: () => text }
}
