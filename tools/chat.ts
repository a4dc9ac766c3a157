// `npm run chat`: a terminal chat on a running host.
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import { ChatClient } from './chat/chat-client.ts'
import { TranscriptPrinter } from './chat/transcript-printer.ts'
import { readRunFile } from './host/run-file.ts'
import { readEnv } from './host/settings.ts'
import { stopWithLauncher } from './lifeline.ts'

const USAGE = `Usage: npm run chat                      talk; Ctrl-C leaves
       npm run chat -- "a question"      print the answer and leave

  --session ID   go on with an earlier session
  --url URL      gateway to talk to; default: the running host of this folder, else PORT
`

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      session: { type: 'string' },
      url: { type: 'string' },
    },
  })
  if (values.help === true) {
    process.stdout.write(USAGE)
    return 0
  }
  const question = positionals.join(' ').trim()
  const url = values.url ?? gatewayUrl()
  const session = values.session === undefined ? {} : { sessionId: values.session }
  return question === '' ? talk(url, session) : ask(url, session, question)
}

/** Where the gateway is: written down by the starter, else as the settings say. */
function gatewayUrl(): string {
  const root = join(import.meta.dirname, '..')
  const env = readEnv(process.env, root)
  const written = readRunFile(resolve(root, env['DATA_DIR'] || '.data'))?.url
  return written || `http://127.0.0.1:${env['PORT'] || 3000}`
}

/** One question; the answer decides the exit code. */
async function ask(
  url: string,
  session: { sessionId?: string },
  question: string,
): Promise<number> {
  const printer = new TranscriptPrinter((text) => process.stdout.write(text))
  const { promise, resolve: end } = Promise.withResolvers<number>()
  const asked = crypto.randomUUID()
  // In an earlier session other turns may be under way.
  let isMine = false
  const client = new ChatClient({
    url,
    ...session,
    onWelcome: () => undefined,
    onConnection: (message) => process.stderr.write(`(${message})\n`),
    onRefused(reason) {
      process.stderr.write(`${reason}\n`)
      end(1)
    },
    onEvent(event) {
      if (event.type === 'turn' && event.payload.state === 'started') {
        isMine = event.payload.messageId === asked
      }
      if (!isMine) return
      printer.print(event)
      if (event.type === 'turn' && event.payload.state === 'done') {
        end(event.payload.outcome === 'completed' ? 0 : 1)
      }
    },
  })
  await connectOrExplain(client)
  client.say(question, asked)
  const code = await promise
  client.close()
  return code
}

async function talk(url: string, session: { sessionId?: string }): Promise<number> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' })
  const printer = new TranscriptPrinter((text) => process.stdout.write(text))
  const client = new ChatClient({
    url,
    ...session,
    onWelcome(message, sessionId) {
      process.stdout.write(`${message}\nSession ${sessionId}. Ctrl-C leaves.\n\n`)
    },
    onConnection: (message) => process.stdout.write(`(${message})\n`),
    onRefused(reason) {
      process.stdout.write(`Not accepted: ${reason}\n`)
      terminal.prompt()
    },
    onEvent(event) {
      printer.print(event)
      if (event.type === 'turn' && event.payload.state === 'done') terminal.prompt()
    },
  })
  await connectOrExplain(client)
  terminal.on('SIGINT', () => terminal.close())
  terminal.prompt()
  for await (const line of terminal) {
    if (line.trim() === '') terminal.prompt()
    else client.say(line)
  }
  client.close()
  process.stdout.write('\n')
  return 0
}

async function connectOrExplain(client: ChatClient): Promise<void> {
  try {
    await client.connect()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`${reason}. Start the host with: npm start`, { cause: error })
  }
}

stopWithLauncher()
try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
