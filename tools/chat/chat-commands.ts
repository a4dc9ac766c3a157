import { readFile, stat } from 'node:fs/promises'
import { basename, extname, resolve } from 'node:path'
import type { HostApi } from '@mcp-host/client'
import { countOf, HostError } from '@mcp-host/client'
import { nearestName } from '@mcp-host/service'
import { plain } from '../plain.ts'

const MAX_FILE_BYTES = 20 * 1024 * 1024
const MAX_SESSIONS = 20
/** The largest number of models that are listed of a provider. */
const MAX_MODELS = 8

const TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.pdf': 'application/pdf',
  '.json': 'application/json',
  '.csv': 'text/csv',
  '.md': 'text/markdown',
  '.html': 'text/html',
}

const USAGE = {
  help: ['/help', 'list these commands'],
  model: ['/model [NAME]', 'list the models; choose provider/model, provider, or default'],
  servers: ['/servers', 'list the MCP servers and their states'],
  retry: ['/retry [MODEL]', 'get another answer to the last message'],
  file: ['/file PATH', 'send a file with the next message; an empty line sends it alone'],
  sessions: [
    '/sessions',
    'list the newest sessions; npm run chat -- --session ID goes on with one',
  ],
  quit: ['/quit', 'leave; so do Ctrl-C and Ctrl-D'],
} as const
type Command = keyof typeof USAGE

/** The fields of a message besides its text. */
export interface MessageExtras {
  readonly model?: string
  readonly attachments?: readonly string[]
}

export interface ChatCommandsOptions {
  readonly api: Pick<HostApi, 'models' | 'status' | 'sessions' | 'updateSession' | 'storeFile'>
  readonly write: (text: string) => void
  readonly sessionId: () => string
  /** The id of the user's newest message, if there is one. */
  readonly lastMessage: () => string | undefined
  readonly regenerate: (messageId: string, extras: MessageExtras) => void
  readonly leave: () => void
  /** The base of relative paths. */
  readonly folder: string
}

/** The outcome of a line. `asked`: an answer of the model will follow. */
export type LineOutcome = 'no-command' | 'done' | 'asked'

/** The commands of the terminal chat: lines that begin with a slash and a word. */
export class ChatCommands {
  readonly #options: ChatCommandsOptions
  /** The model that was chosen before the first message, when the host does not know the session. */
  #model: string | undefined
  #attachments: string[] = []

  constructor(options: ChatCommandsOptions) {
    this.#options = options
  }

  /** Runs a line if it is a command. Errors are printed. */
  async run(line: string): Promise<LineOutcome> {
    // An empty line sends files alone.
    if (line.trim() === '' && this.#attachments.length === 0) return 'done'
    const [, name, argument = ''] = /^\/([a-z]+)(?:\s+(.*?))?\s*$/i.exec(line) ?? []
    if (name === undefined) return 'no-command'
    const command = name.toLowerCase()
    if (!isCommand(command)) {
      const nearest = nearestName(command, Object.keys(USAGE), 2)
      const hint = nearest === undefined ? '' : `did you mean /${nearest}? `
      this.#say(
        `There is no command /${name}; ${hint}/help lists them. Begin with a space to send it as a message.`,
      )
      return 'done'
    }
    try {
      return (await this.#commands[command](argument)) ?? 'done'
    } catch (error) {
      this.#say(error instanceof Error ? error.message : String(error))
      return 'done'
    }
  }

  /** The fields for the next message. Each file is sent with one message. */
  takeExtras(): MessageExtras {
    const attachments = this.#attachments
    this.#attachments = []
    return {
      ...(this.#model === undefined ? {} : { model: this.#model }),
      ...(attachments.length === 0 ? {} : { attachments }),
    }
  }

  readonly #commands: Readonly<
    Record<
      Command,
      (argument: string) => Promise<LineOutcome | undefined> | LineOutcome | undefined
    >
  > = {
    help: () => {
      for (const [usage, about] of Object.values(USAGE)) this.#say(`  ${usage.padEnd(16)}${about}`)
      return undefined
    },
    model: async (name) => {
      await (name === '' ? this.#listModels() : this.#chooseModel(name))
      return undefined
    },
    servers: async () => {
      await this.#listServers()
      return undefined
    },
    retry: (model) => {
      const messageId = this.#options.lastMessage()
      if (messageId === undefined) throw new Error('There is no message to answer again.')
      this.#options.regenerate(messageId, model === '' ? {} : { model })
      return 'asked'
    },
    file: async (path) => {
      await this.#attach(path)
      return undefined
    },
    sessions: async () => {
      await this.#listSessions()
      return undefined
    },
    quit: () => {
      this.#options.leave()
      return undefined
    },
  }

  async #listServers(): Promise<void> {
    const { servers = [] } = await this.#options.api.status()
    if (servers.length === 0) this.#say('There are no MCP servers; add one to mcp.json.')
    for (const { server, state, phase, tools, error } of servers) {
      const count = tools === undefined || state !== 'ready' ? '' : `: ${countOf(tools, 'tool')}`
      this.#say(`  ${server}  ${phase ?? state}${count}${error === undefined ? '' : `: ${error}`}`)
    }
  }

  async #listModels(): Promise<void> {
    const { default: standard, providers } = await this.#options.api.models()
    if (standard !== undefined) this.#say(`default: ${standard.provider}/${standard.model}`)
    for (const { provider, models, error } of providers) {
      const names = models.slice(0, MAX_MODELS).map(({ id }) => `${provider}/${id}`)
      const more = models.length > MAX_MODELS ? `, and ${models.length - MAX_MODELS} more` : ''
      this.#say(`  ${error === undefined ? names.join(', ') + more : `${provider}: ${error}`}`)
    }
  }

  async #chooseModel(name: string): Promise<void> {
    const { api, sessionId } = this.#options
    const model = name === 'default' ? null : name
    this.#model = undefined
    try {
      await api.updateSession(sessionId(), { model })
    } catch (error) {
      const isUnknown = error instanceof HostError && error.code === 'not-found'
      if (!isUnknown) throw error
      // Before the first message the host does not know the session, so the model is sent with each message.
      this.#model = model ?? undefined
    }
    this.#say(`${name === 'default' ? 'The default model' : name} answers from now on.`)
  }

  async #attach(path: string): Promise<void> {
    if (path === '') throw new Error('Which file? /file PATH')
    const { api, folder, sessionId } = this.#options
    const file = resolve(folder, path.replace(/^(["'])(.*)\1$/, '$2'))
    const found = await stat(file).catch(() => undefined)
    if (found?.isFile() !== true) throw new Error(`${file} is no file that can be read.`)
    if (found.size > MAX_FILE_BYTES) throw new Error(`${file} is larger than 20 MB.`)
    const content = await readFile(file)
    const type = TYPES[extname(file).toLowerCase()] ?? unknownType(content)
    this.#attachments.push(
      await api.storeFile(sessionId(), basename(file), new Blob([content], { type })),
    )
    this.#say(
      `${basename(file)} (${type}, ${content.length} bytes) goes with your next message; an empty line sends it alone.`,
    )
  }

  async #listSessions(): Promise<void> {
    const { api, sessionId } = this.#options
    const { sessions } = await api.sessions({ limit: MAX_SESSIONS })
    if (sessions.length === 0) this.#say('There are no sessions yet.')
    for (const { id, title, messages, updatedAt } of sessions) {
      const mark = id === sessionId() ? '*' : ' '
      const about = `${new Date(updatedAt).toLocaleString()}, ${countOf(messages, 'message')}`
      this.#say(`${mark} ${id}  ${title}  (${about})`)
    }
  }

  /** Writes a line without control characters, since titles and messages may come from others. */
  #say(text: string): void {
    this.#options.write(`${plain(text)}\n`)
  }
}

function isCommand(name: string): name is Command {
  return Object.hasOwn(USAGE, name)
}

function unknownType(content: Buffer): string {
  return content.includes(0) ? 'application/octet-stream' : 'text/plain'
}
