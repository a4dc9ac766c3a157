// `npm start` beside services that stop or freeze, and on a full disk.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  canMount,
  ChatSocket,
  eventually,
  isAlive,
  script,
  smallDisk,
  toolServer,
} from '@mcp-host/testkit'
import { readRunFile } from '@mcp-host/tools/host'
import { describe, expect, test } from 'vitest'
import { StartStage } from './start-stage.ts'

const stage = StartStage.forEachTest()

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
    chat.say(script({ text: name, calls: [{ name: 'works__echo', arguments: {} }] }, { text: '.' }))
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
  process.kill(frozen, 'SIGSTOP')
  await host.says(`process ${frozen} does not answer /health, SIGTERM sent`)
  await eventually(async () => (await pidOf('orchestrator')) !== frozen, {
    limitMs: 40_000,
    what: 'a successor of the frozen orchestrator',
  })
  back.say(script({ text: 'again' }))
  await back.waitFor((frame) => frame.type === 'text' && frame.payload.content.includes('again'))
})

const isAble = await canMount()
const unless = isAble ? '' : ' (does not run here: it has to mount a tmpfs)'

describe.skipIf(!isAble)('npm start on a small disk', () => {
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
})
