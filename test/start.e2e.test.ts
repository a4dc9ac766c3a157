// `npm start` as its user sees it, and the processes and files that it leaves behind.
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { eventually, family, runProgram } from '@mcp-host/testkit'
import { readRunFile, startNatsServer } from '@mcp-host/tools/host'
import { Guardian } from '@mcp-host/process'
import { describe, expect, test } from 'vitest'
import { expectNoProcesses, StartStage } from './start-stage.ts'

const root = join(import.meta.dirname, '..')
const files = join(root, 'examples', 'files')
const stage = StartStage.forEachTest()

describe('npm start', () => {
  test('npm start prints the services, answers a chat with a real MCP server, and ends all with Ctrl-C', async () => {
    const host = await stage.start()
    await host.says('Ctrl-C stops everything')
    expect(host.output()).toMatch(/model +demo-1 \(demo\)/)
    for (const server of ['filesystem', 'everything']) {
      // On a slow machine a line about the start comes first.
      const line = new RegExp(`server ${server} +(ready: )?\\d+ tools`)
      await eventually(() => line.test(host.output()), { what: `the line of ${server}` })
    }
    expect(host.output()).toContain(`http://127.0.0.1:${stage.env['PORT']}`)
    expect(host.output()).toContain('docs/guides/your-own-tool.md')
    const { processes = [] } = readRunFile(stage.env['DATA_DIR'] ?? '') ?? {}
    expect(processes).toHaveLength(5)
    for (const { name, pid } of processes.filter((each) => each.name !== 'nats-server')) {
      // Built programs take half the memory.
      expect(await readFile(`/proc/${pid}/cmdline`, 'utf8')).toContain(`/${name}/main.js`)
    }

    const front = await fetch(`http://127.0.0.1:${stage.env['PORT']}/`, {
      headers: { accept: 'text/html' },
    })
    expect(front.headers.get('content-security-policy')).toContain("script-src 'self'")
    const html = await front.text()
    const [, script = ''] = html.match(/<script type="module"[^>]* src="([^"]+\.js)"/) ?? []
    const program = await fetch(new URL(script, front.url))
    expect(program.headers.get('content-type'), html).toMatch(/^(?:text|application)\/javascript/)

    const question = `list the directory ${files}`
    const chat = stage.cleanup.use(await runProgram(['chat', question], stage.env))
    expect(await chat.ended()).toEqual({ code: 0, signal: null })
    expect(chat.output()).toContain('→ filesystem.list_directory')
    expect(chat.output()).toMatch(/← filesystem\.list_directory ok in \d+ ms/)
    expect(
      chat
        .output()
        .split('\n')
        .filter((line) => line === '[FILE] welcome.txt'),
    ).toHaveLength(1)

    const audit = await fetch(`http://127.0.0.1:${stage.env['PORT']}/api/audit?tool=list_directory`)
    expect(audit.status).toBe(200)

    // A chat whose input ends at once exits as if its user had left.
    const talk = stage.cleanup.use(await runProgram(['chat'], stage.env))
    expect(await talk.ended()).toEqual({ code: 0, signal: null })
    expect(talk.output()).toMatch(/Session [0-9a-f]{32}/)

    const page = await fetch(`http://127.0.0.1:${stage.env['PORT']}/api/chat/sessions`)
    const { sessions } = (await page.json()) as { sessions: { id: string; title: string }[] }
    const { id = '' } = sessions.find(({ title }) => title.startsWith('list')) ?? {}
    const input =
      '/file examples/files/welcome.txt\n/model claude\n/model demo\n/sessions\n/retry\n'
    const again = stage.cleanup.use(await runProgram(['chat', '--session', id], stage.env, input))
    expect(await again.ended()).toEqual({ code: 0, signal: null })
    expect(again.output().split(question)).toHaveLength(3)
    expect(again.output().match(/→ filesystem.list_directory/g)).toHaveLength(2)
    for (const line of ['text/plain, ', 'no provider', 'demo answers from now on', `* ${id}`]) {
      expect(again.output()).toContain(line)
    }
    const unknown = stage.cleanup.use(
      await runProgram(['chat', '--session', 'f'.repeat(32)], stage.env),
    )
    expect(await unknown.ended()).toMatchObject({ code: 1 })
    expect(unknown.output()).toContain('there is no session ffff')

    // npm passes `npm run servers --json` on like this.
    const npm = { npm_lifecycle_event: 'servers', npm_config_json: 'true' }
    const listed = stage.cleanup.use(await runProgram(['servers'], { ...stage.env, ...npm }))
    expect(await listed.ended()).toMatchObject({ code: 0 })
    expect(JSON.parse(listed.output())).toHaveLength(2)

    const pids = await family(host.process.pid)
    expect(pids.length).toBeGreaterThanOrEqual(9)
    host.process.signal('SIGINT')
    expect(await host.ended()).toEqual({ code: 0, signal: null })
    expect(host.output()).toContain('stopped')
    await expectNoProcesses(pids)
  })

  test('npm start passes a key on to the worker in each documented way', async () => {
    const keys = new Set<string>()
    const provider = createServer(({ url = '', headers }, response) => {
      const sent = headers.authorization ?? headers['x-api-key'] ?? headers['x-goog-api-key']
      keys.add(`${url.split('/')[1]} ${String(sent).replace('Bearer ', '')}`)
      response.writeHead(404).end()
    }).listen(0, '127.0.0.1')
    stage.cleanup.defer(() => void provider.close())
    await once(provider, 'listening')
    const { port } = provider.address() as AddressInfo
    const at = (name: string): string => `http://127.0.0.1:${port}/${name}`
    const folder = join(stage.env['DATA_DIR'] ?? '', '..')
    const file = async (name: string, text: string): Promise<string> => {
      await writeFile(join(folder, name), text)
      return join(folder, name)
    }
    const own = (name: string, key: object = {}): object => ({
      type: 'openai-compatible',
      baseUrl: at(name),
      ...key,
    })
    const providers = {
      work: own('work', { apiKeyEnv: 'WORK_LLM_KEY' }),
      vault: own('vault', { apiKeyEnv: 'VAULT_SECRET' }),
      team: own('team'),
      corp: own('corp', { apiKeyFile: await file('corp.key', 'in-a-file-of-llm-json') }),
    }
    const llm = { type: 'gemini', api_key: 'in-mcp-json' }
    const host = await stage.start({
      MCP_JSON_PATH: await file('mcp.json', JSON.stringify({ llm, servers: {} })),
      LLM_CONFIG: await file('llm.json', JSON.stringify({ providers })),
      ENV_FILE: await file('.env', 'WORK_LLM_KEY=named-by-llm-json'),
      ANTHROPIC_API_KEY: 'in-the-environment',
      OPENAI_API_KEY_FILE: await file('openai.key', 'in-a-file\n'),
      VAULT_SECRET_FILE: await file('vault.key', 'in-a-file-named-by-llm-json'),
      TEAM_API_KEY: 'by-the-name-of-the-provider',
      ANTHROPIC_BASE_URL: at('anthropic'),
      OPENAI_BASE_URL: at('openai'),
      GEMINI_BASE_URL: at('gemini'),
      MAX_TOOL_CALL: '5',
      SANDBOX: 'none',
    })
    // The worker lists the models of every provider with a key.
    const expected = [
      'gemini in-mcp-json',
      'anthropic in-the-environment',
      'openai in-a-file',
      'work named-by-llm-json',
      'vault in-a-file-named-by-llm-json',
      'team by-the-name-of-the-provider',
      'corp in-a-file-of-llm-json',
    ]
    await host.says('Ctrl-C stops everything')
    await eventually(() => expected.every((each) => keys.has(each)), { what: 'use of every key' })
    expect(host.output()).toContain('llm.api_key is used, but a key belongs in GEMINI_API_KEY')
    expect(host.output()).toContain('did you mean MAX_TOOL_CALLS?')
    expect(host.output()).toMatch(
      /warning +programs of MCP servers can read what your user can read/,
    )
    for (const each of expected) expect(host.output()).not.toContain(each.split(' ')[1])
  })

  test('npm start that is stopped before it is ready ends', async () => {
    const host = await stage.start()
    await host.says('nats-server')
    const pids = await family(host.process.pid)
    host.process.signal('SIGINT')
    expect(await host.ended()).toEqual({ code: 0, signal: null })
    expect(host.output()).not.toContain('ready')
    await expectNoProcesses(pids)
  })

  test('npm start leaves no processes when the starter is killed', async () => {
    const host = await stage.start()
    await host.says('Ctrl-C stops everything')
    const pids = await family(host.process.pid)
    process.kill(readRunFile(stage.env['DATA_DIR'] ?? '')?.pid ?? 0, 'SIGKILL')
    await expectNoProcesses(pids)
  })

  test('npm start reports data, port or broker that cannot be used', async () => {
    const host = await stage.start()
    await host.says('Ctrl-C stops everything')
    const same = await stage.start()
    expect(await same.ended()).toMatchObject({ code: 1 })
    expect(same.output()).toContain(`already running on ${stage.env['DATA_DIR']}`)
    expect(same.output()).toContain(`at http://127.0.0.1:${stage.env['PORT']}`)
    const other = await stage.start({ DATA_DIR: `${stage.env['DATA_DIR']}-2` })
    expect(await other.ended()).toMatchObject({ code: 1 })
    expect(other.output()).toContain(`Port ${stage.env['PORT']} on 127.0.0.1 cannot be used`)
    const unwritable = join(import.meta.filename, 'data')
    const elsewhere = await stage.start({ DATA_DIR: unwritable })
    expect(await elsewhere.ended()).toMatchObject({ code: 1 })
    expect(elsewhere.output()).toContain(`DATA_DIR=${unwritable} cannot be written`)
    const alone = await stage.start({
      NATS_URL: 'nats://127.0.0.1:1',
      DATA_DIR: `${stage.env['DATA_DIR']}-2`,
      PORT: '0',
    })
    await alone.says('127.0.0.1:1 cannot be reached (ECONNREFUSED)')
  })

  test('npm run accounts finds the address and logins of the running host without its settings', async () => {
    const host = await stage.start({ AUTH: 'local', HOST: '0.0.0.0' })
    await host.says('Ctrl-C stops everything')
    const [link = ''] = /http:\S+\/invite\//.exec(host.output()) ?? []
    expect(link).toContain(`:${stage.env['PORT']}/`)
    const { DATA_DIR = '' } = stage.env
    const create = await runProgram(['accounts', 'create', 'ann'], { DATA_DIR })
    expect(await stage.cleanup.use(create).ended()).toMatchObject({ code: 0 })
    expect(create.output()).toContain(link)
    const list = stage.cleanup.use(await runProgram(['accounts', 'list'], { DATA_DIR }))
    expect(await list.ended()).toMatchObject({ code: 0 })
    expect(list.output()).toMatch(/ann +invited/)
    expect(list.output()).not.toContain('AUTH')
  })

  test('npm start names all faulty settings at once and exits with 2', async () => {
    const mcpJson = join(stage.env['DATA_DIR'] ?? '', '..', 'mcp.json')
    await writeFile(mcpJson, '{\n  "servers": { "llm": { "comand": "x" } }\n}')
    const host = await stage.start({
      PORT: 'many',
      HOST: '0.0.0.0',
      LOG_LEVEL: 'loud',
      LLM_PROVIDER: 'gemini',
      MAX_TOOL_CALLS: '-1',
      DEFAULT_TOOL_TIMEOUT_MS: 'soon',
      MCP_JSON_PATH: mcpJson,
    })
    expect(await host.ended()).toMatchObject({ code: 2 })
    const names = [
      'PORT',
      'LOG_LEVEL',
      'GEMINI_API_KEY',
      'MAX_TOOL_CALLS',
      'DEFAULT_TOOL_TIMEOUT_MS',
    ]
    for (const each of [...names, 'mcp.json', 'comand', 'llm'])
      expect(host.output()).toContain(each)
  })

  test('a failed npm start leaves no processes and prints the reason', async () => {
    await using guardian = new Guardian()
    const bin = process.env['NATS_SERVER_BIN'] ?? 'nats-server'
    const dataDir = join(stage.env['DATA_DIR'] ?? '', 'foreign')
    const broker = await startNatsServer(guardian, { bin, dataDir })
    const wrongToken = broker.url.replace(/\/\/[^@]+@/, '//wrong@')
    const host = await stage.start({ NATS_URL: wrongToken })
    let pids: number[] = []
    await eventually(async () => {
      pids = [...new Set([...pids, ...(await family(host.process.pid))])]
      return pids.length > 4
    })
    expect(await host.ended()).toMatchObject({ code: 1 })
    expect(host.output()).toContain('refuses our credentials')
    await expectNoProcesses(pids)
  })
})

test('npm run chat refuses an unknown option with its name, the usage and 2', async () => {
  const chat = stage.cleanup.use(await runProgram(['chat', '--bogus'], stage.env))
  expect(await chat.ended()).toMatchObject({ code: 2 })
  expect(chat.output()).toMatch(/'--bogus'[^]*Usage: npm run chat/)
})

test('npm run chat without a host prints the remedy and exits with 1', async () => {
  const chat = stage.cleanup.use(await runProgram(['chat', 'hello'], stage.env))
  expect(await chat.ended()).toMatchObject({ code: 1 })
  expect(chat.output()).toContain('npm start')
})
