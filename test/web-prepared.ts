// A host of the web UI whose model gives prepared answers, and whose MCP servers have telling names: for pictures.
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { LLMock } from '@copilotkit/aimock'
import { eventually, serverStates, testFolder } from '@mcp-host/testkit'
import type { WebHostOptions } from './web-host.ts'
import { WebHost } from './web-host.ts'

const root = join(import.meta.dirname, '..')
const modules = createRequire(import.meta.url)
const program = (name: string, file: string): string =>
  join(dirname(modules.resolve(`${name}/package.json`)), file)

/** Their name is in the pictures. */
export const FILES = '/tmp/files'

export const SERVERS = {
  filesystem: {
    command: join(root, 'node_modules/.bin/mcp-server-filesystem'),
    args: [FILES],
  },
  everything: {
    command: process.execPath,
    args: [program('@modelcontextprotocol/server-everything', 'dist/index.js'), 'stdio'],
  },
  travel: {
    command: process.execPath,
    args: [join(root, 'packages/testkit/fixtures/asking-server.ts')],
    scope: 'session',
  },
}

export interface PreparedCall {
  /** Name of the tool, after that of its server. */
  readonly name: string
  readonly arguments: object
}

/** What the model does after a message. */
export interface PreparedAnswer {
  /** The message, or a part of it. */
  readonly to: string
  readonly reasoning?: string
  readonly text?: string
  /** The time between two pieces of it. */
  readonly pieceMs?: number
  /** What it calls before the text. */
  readonly call?: PreparedCall
  /** The HTTP status with which the first model fails; both fail where there is no text. */
  readonly status?: number
  /** Number of pieces of the text after which the connection to the model breaks, once. */
  readonly breaksAfter?: number
  /** Whether it makes the call again and again, without a text. */
  readonly isEndless?: boolean
}

export interface PreparedOptions extends WebHostOptions {
  readonly answers?: readonly PreparedAnswer[]
  readonly servers?: Readonly<Record<string, object>>
}

export class PreparedHost implements AsyncDisposable {
  readonly host: WebHost
  readonly #open: AsyncDisposableStack

  private constructor(host: WebHost, open: AsyncDisposableStack) {
    this.host = host
    this.#open = open
  }

  static async start(options: PreparedOptions): Promise<PreparedHost> {
    const { answers = [], servers = SERVERS, env, ...more } = options
    await using open = new AsyncDisposableStack()
    const folder = open.use(await testFolder())
    const model = open.adopt(new LLMock({ port: 0 }), (each) => each.stop())
    for (const answer of answers) prepare(model, answer)
    // Answers to all other messages, also to those of the host, which asks for summaries.
    for (const name of ['qwen3-32b', 'qwen3-8b'])
      model.on({ userMessage: /./, model: name }, { content: 'Here you are.' })
    await model.start()
    const work = { type: 'openai-compatible', baseUrl: `${model.url}/v1` }
    const llm = join(folder.path, 'llm.json')
    const config = {
      default: 'work/qwen3-32b',
      fallback: ['spare'],
      providers: {
        work: {
          ...work,
          model: 'qwen3-32b',
          models: {
            'qwen3-32b': { contextWindow: 32_768, prices: { input: 0.4, output: 1.2 } },
            'qwen3-8b': { contextWindow: 2_000 },
          },
        },
        spare: { ...work, model: 'qwen3-8b' },
      },
    }
    await writeFile(llm, JSON.stringify(config))
    await mkdir(FILES, { recursive: true })
    for (const name of ['welcome.txt', 'shopping-list.md'])
      await copyFile(join(root, 'examples/files', name), join(FILES, name))
    const settings = { LLM_CONFIG: llm, LLM_RETRY_MS: '50', ...env }
    const host = open.use(await WebHost.start({ ...more, env: settings }))
    const { mcpJson, url } = host.stack
    await writeFile(mcpJson, JSON.stringify({ servers }))
    await eventually(async () => {
      const ready = (await serverStates(url)).filter(({ state }) => state === 'ready')
      return ready.length === Object.keys(servers).length
    })
    return new PreparedHost(host, open.move())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#open.disposeAsync()
  }
}

function prepare(model: LLMock, answer: PreparedAnswer): void {
  const { to, reasoning, text = '', pieceMs = 0, call, status } = answer
  const { breaksAfter, isEndless = false } = answer
  const match = { userMessage: to, hasToolResult: call !== undefined }
  const pace = { latency: pieceMs, chunkSize: 12 }
  if (status !== undefined) {
    const failing = answer.text === undefined ? {} : { model: 'qwen3-32b' }
    model.on({ ...match, ...failing }, { error: { message: 'not now' }, status })
  }
  const usage = { prompt_tokens: 1_240, completion_tokens: 96 }
  const thought = reasoning === undefined ? {} : { reasoning }
  if (call !== undefined) {
    const toolCalls = [{ name: call.name, arguments: JSON.stringify(call.arguments) }]
    const asked = isEndless ? {} : { hasToolResult: false }
    model.on({ userMessage: to, ...asked }, { toolCalls, usage, ...thought }, pace)
  }
  if (breaksAfter !== undefined) {
    const breaking = { ...pace, truncateAfterChunks: breaksAfter }
    model.on({ ...match, sequenceIndex: 0 }, { content: text }, breaking)
  }
  model.on(match, { content: text, usage, ...thought }, pace)
}
