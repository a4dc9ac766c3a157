// `npm run chat`: a terminal chat on a running host.
import { join } from 'node:path'
import type { Interface } from 'node:readline'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { ChatApi, RefusedError } from './chat/chat-api.ts'
import { ChatClient, NoGatewayError } from './chat/chat-client.ts'
import { ChatCommands } from './chat/chat-commands.ts'
import { historyText } from './chat/history-text.ts'
import { QuestionDesk } from './chat/question-desk.ts'
import { readLine, readLineAlone } from './chat/read-line.ts'
import { TranscriptPrinter } from './chat/transcript-printer.ts'
import { gatewayUrl } from './host/gateway-url.ts'
import { plain } from './plain.ts'
import { stopWithLauncher } from './lifeline.ts'

const USAGE = `Usage: npm run chat                      talk; Ctrl-C stops the answer, else it leaves
       npm run chat -- "a question"      print the answer and leave

  In a conversation /help lists the commands: models, sessions, files, another answer.
  When a tool asks you something: /decline refuses, /cancel leaves it open to the tool.
  When you are asked for permission: y allows the call, n refuses it.

  --session ID   go on with an earlier session
  --url URL      gateway to talk to; default: the host that runs on DATA_DIR, else PORT
`

/** So many turns of an earlier session are shown when it goes on. */
const HISTORY_TURNS = 10

/** The launcher passes on a Ctrl-C that the terminal has sent to both: so soon it is the same one. */
const ECHO_MS = 500

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
  const url = values.url ?? gatewayUrl(process.env, join(import.meta.dirname, '..'))
  const session = values.session === undefined ? {} : { sessionId: values.session }
  if (values.session !== undefined) await checkSession(new ChatApi(url), values.session)
  return question === '' ? talk(url, session) : ask(url, session, question)
}

/** Throws when nothing was ever said in a session: its id is mistyped, or it was deleted or has expired. */
async function checkSession(api: ChatApi, sessionId: string): Promise<void> {
  try {
    await api.session(sessionId)
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error
    const isUnknown = error.code === 'not-found' || error.code === 'invalid'
    const what = isUnknown ? `there is no session ${sessionId}` : error.message
    const remedy = isUnknown
      ? 'npm run chat begins one, and lists those there are with /sessions'
      : 'Start the host with: npm start'
    throw new Error(`${what}. ${remedy}`, { cause: error })
  }
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
  const fail = (reason: string): void => {
    process.stderr.write(plain(`${reason}\n`))
    end(1)
  }
  const desk = new QuestionDesk({
    write: (text) => process.stdout.write(text),
    readLine: readLineAlone,
    answer: (answer) => client.answer(answer),
  })
  const client = new ChatClient({
    url,
    ...session,
    onWelcome: () => undefined,
    onConnection: (message) => process.stderr.write(plain(`(${message})\n`)),
    onRefused: fail,
    onAnswerRefused: (id, error) => desk.refused(id, error),
    onLost: fail,
    onEvent(event) {
      if (event.type === 'turn' && event.payload.state === 'started') {
        isMine = event.payload.messageId === asked
      }
      if (!isMine && event.type !== 'queue' && event.type !== 'session') return
      printer.print(event)
      if (event.type === 'input') desk.take(event)
      if (event.type === 'turn' && event.payload.state === 'done') {
        end(event.payload.outcome === 'completed' ? 0 : 1)
      }
    },
  })
  await connectOrExplain(client)
  client.say(question, { id: asked })
  let stoppedAt: number | undefined
  const stop = (): void => {
    if (stoppedAt === undefined) {
      stoppedAt = Date.now()
      client.cancel(asked)
    } else if (Date.now() - stoppedAt > ECHO_MS) end(130)
  }
  process.on('SIGINT', stop)
  const code = await promise
  process.off('SIGINT', stop)
  client.close()
  return code
}

/** A conversation: until Ctrl-C, or until the input is over and all of it is answered. */
async function talk(url: string, session: { sessionId?: string }): Promise<number> {
  const write = (text: string): boolean => process.stdout.write(text)
  const printer = new TranscriptPrinter(write)
  const { promise, resolve: leave } = Promise.withResolvers<number>()
  let terminal: Interface | undefined
  let isInputOver = false
  let unanswered = 0
  let sessionId = session.sessionId ?? ''
  let lastMessage: string | undefined
  /** The message whose answer is written, and whether it was stopped. */
  let running: string | undefined
  let isStopping = false
  const next = (): void => {
    if (!isInputOver) terminal?.prompt()
    else if (unanswered === 0) leave(0)
  }
  const answered = (): void => {
    unanswered = Math.max(0, unanswered - 1)
    next()
  }
  const desk = new QuestionDesk({
    write,
    readLine: async (prompt, signal) =>
      process.stdin.isTTY && terminal !== undefined && !isInputOver
        ? readLine(terminal, prompt, signal)
        : undefined,
    answer: (answer) => client.answer(answer),
  })
  const client = new ChatClient({
    url,
    ...session,
    onWelcome(message, id) {
      sessionId = id
      const hint = '/help lists commands. Ctrl-C stops an answer, else it leaves.'
      write(plain(`${message}\nSession ${id}. ${hint}\n\n`))
    },
    onConnection: (message) => write(plain(`(${message})\n`)),
    onRefused(reason) {
      write(plain(`Not accepted: ${reason}\n`))
      answered()
    },
    onAnswerRefused: (id, error) => desk.refused(id, error),
    onLost(reason) {
      process.stderr.write(plain(`${reason}\n`))
      leave(1)
    },
    onEvent(event) {
      printer.print(event)
      if (event.type === 'input') desk.take(event)
      if (event.type === 'user') lastMessage = event.payload.messageId
      if (event.type !== 'turn') return
      if (event.payload.state === 'started') {
        running = event.payload.messageId
        isStopping = false
      } else if (event.payload.state === 'done') {
        running = undefined
        answered()
      }
    },
  })
  const api = new ChatApi(url)
  const commands = new ChatCommands({
    api,
    write,
    sessionId: () => sessionId,
    lastMessage: () => lastMessage,
    regenerate: (messageId, extras) => client.regenerate(messageId, extras),
    leave: () => leave(0),
    // npm runs this in the folder of the package.
    folder: process.env['INIT_CWD'] ?? process.cwd(),
  })
  if (session.sessionId !== undefined) {
    const history = await api.history(session.sessionId, HISTORY_TURNS)
    lastMessage = history.findLast(({ role }) => role === 'user')?.id
    write(historyText(history))
  }
  await connectOrExplain(client)
  terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' })
  terminal.on('SIGINT', () => {
    if (running === undefined || isStopping) return leave(0)
    isStopping = true
    client.cancel(running)
    write('\n(stopping; Ctrl-C again leaves)\n')
  })
  /** Lines one after another: a command may take its time. */
  let handled = Promise.resolve()
  const handle = async (line: string): Promise<void> => {
    const outcome = await commands.run(line)
    if (outcome === 'no-command') client.say(line, commands.takeExtras())
    else if (outcome === 'done') answered()
  }
  terminal.on('line', (line) => {
    if (line.trim() === '') return next()
    unanswered++
    handled = handled.then(() => handle(line))
  })
  terminal.on('close', () => {
    isInputOver = true
    next()
  })
  terminal.prompt()
  const code = await promise
  terminal.close()
  client.close()
  write('\n')
  return code
}

async function connectOrExplain(client: ChatClient): Promise<void> {
  try {
    await client.connect()
  } catch (error) {
    if (!(error instanceof NoGatewayError)) throw error
    throw new Error(`${error.message}. Start the host with: npm start`, { cause: error })
  }
}

stopWithLauncher()
try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(plain(`${error instanceof Error ? error.message : String(error)}\n`))
  process.exitCode = 1
}
