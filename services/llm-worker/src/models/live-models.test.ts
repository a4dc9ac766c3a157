import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '@mcp-host/service'
import { eventually } from '@mcp-host/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { workerSettings } from '../config.ts'
import type { OwnServer } from './__fixtures__/own-server.ts'
import { startOwnServer } from './__fixtures__/own-server.ts'
import { noBudgets } from './__fixtures__/no-budgets.ts'
import { LiveModels } from './live-models.ts'

let folder: string
let own: OwnServer
let changes: number
let failures: unknown[]
let models: LiveModels
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'live-models-'))
  own = await startOwnServer()
  own.answer = (response) => void response.writeHead(404).end()
  changes = 0
  failures = []
})
afterEach(async () => {
  models[Symbol.dispose]()
  await own[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

/** Replaces a file by a rename, as editors and Kubernetes do. */
async function put(name: string, content: string): Promise<void> {
  await writeFile(join(folder, `${name}.new`), content)
  await rename(join(folder, `${name}.new`), join(folder, name))
}

async function start(env: Record<string, string>): Promise<void> {
  const config = loadConfig(workerSettings, { LLM_CONFIG: join(folder, 'llm.json'), ...env })
  models = await LiveModels.read({
    budgets: noBudgets,
    config,
    // Without LLM_CONFIG in `env` the file may be missing, as at the default path.
    env,
    onChange: () => void changes++,
    onFailure: (error) => failures.push(error),
  })
}

test('a changed key file is used from the next request on', async () => {
  await put('key', 'old-key')
  await start({
    OPENAI_API_KEY_FILE: join(folder, 'key'),
    OPENAI_BASE_URL: `${own.origin}/v1`,
  })
  const ask = async (): Promise<unknown> => {
    const { signal } = new AbortController()
    const stream = models
      .get()
      .stream({ messages: [{ role: 'user', text: 'hi' }], tools: [] }, { signal })
    await expect(Array.fromAsync(stream)).rejects.toMatchObject({ code: 'not-found' })
    return own.received.at(-1)?.headers.authorization
  }
  expect(await ask()).toBe('Bearer old-key')
  for (const key of ['new-key', 'newer-key']) {
    const before = changes
    await put('key', key)
    await eventually(() => changes > before)
    expect(await ask()).toBe(`Bearer ${key}`)
  }
  expect(failures).toEqual([])
})

test('a server that starts later is found', async () => {
  const listed = { data: [{ id: 'qwen3:8b' }] }
  const nowhere = 'http://127.0.0.1:1/v1'
  await start({
    OLLAMA_BASE_URL: nowhere,
    LMSTUDIO_BASE_URL: nowhere,
    OPENAI_COMPATIBLE_BASE_URL: `${own.origin}/v1`,
  })
  const states = async () =>
    Object.fromEntries((await models.list()).map(({ provider, state }) => [provider, state]))
  expect(await states()).toEqual({ demo: 'ready', 'openai-compatible': 'unavailable' })
  models.look()
  own.answer = (response) => void response.end(JSON.stringify(listed))
  models.look()
  await eventually(() => changes > 0)
  expect(await states()).toEqual({ demo: 'ready', 'openai-compatible': 'ready' })
  expect([models.get().provider, failures]).toEqual(['demo', []])
})

test('a local server that starts later answers where the demo model was the default', async () => {
  await start({ OLLAMA_BASE_URL: `${own.origin}/v1`, LMSTUDIO_BASE_URL: 'http://127.0.0.1:1/v1' })
  await models.list()
  expect([models.get().provider, models.present]).toEqual(['demo', ['demo']])
  own.answer = (response) => void response.end(JSON.stringify({ data: [{ id: 'qwen3:8b' }] }))
  models.look()
  await eventually(() => changes > 0)
  expect(models.get()).toMatchObject({ provider: 'ollama', model: 'qwen3:8b' })
})

test('an llm.json that is created later is loaded', async () => {
  await start({ LLM_PROVIDER: 'demo' })
  expect(models.get().provider).toBe('demo')
  await put('llm.json', '{"default": "ollama/qwen3"}')
  await eventually(() => changes > 0)
  expect(models.get()).toMatchObject({ provider: 'ollama', model: 'qwen3' })
})

test('invalid settings are reported, and the former ones stay in use', async () => {
  await put('llm.json', '{"default": "ollama/qwen3"}')
  await start({})
  await put('llm.json', '{"default": "parrot"}')
  await eventually(() => failures.length > 0)
  expect(String(failures[0])).toContain('there is no provider "parrot"')
  expect(models.get()).toMatchObject({ provider: 'ollama' })
  await put('llm.json', '{"default": "lmstudio/x"}')
  await eventually(() => changes > 0)
  expect(models.get()).toMatchObject({ provider: 'lmstudio' })
})
