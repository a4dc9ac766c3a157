// `npm run chat`: a terminal chat on a running host.
import { join } from 'node:path'
import type { Interface } from 'node:readline'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import type { HostAddress, Sent } from '@mcp-host/client'
import { HostApi, HostError, SessionClient } from '@mcp-host/client'
import { ChatCommands } from './chat/chat-commands.ts'
import { FollowConnection } from './chat/follow-connection.ts'
import { historyText } from './chat/history-text.ts'
import { QuestionDesk } from './chat/question-desk.ts'
import { readLine, readLineAlone } from './chat/read-line.ts'
import { TranscriptPrinter } from './chat/transcript-printer.ts'
import { CommandError, runCommand } from './command-line.ts'
import { credential } from './host/credential.ts'
import { gatewayUrl } from './host/gateway-url.ts'
import { plain } from './plain.ts'
import { stopWithLauncher } from './lifeline.ts'

const usage = `Usage: npm run chat                      talk; Ctrl-C stops the answer, else it leaves
       npm run chat -- "a question"      print the answer and leave

  In a conversation /help lists the commands: models, sessions, files, another answer.
  When a tool asks you something: /decline refuses, /cancel leaves it open to the tool.
  When you are asked for permission: y allows the call, n refuses it.

  --session ID   go on with an earlier session
  --url URL      gateway to talk to; default: the host that runs on DATA_DIR, else PORT
  --token TOKEN  API key or access token; default: MCP_HOST_TOKEN. The host on DATA_DIR knows its own machine

Ends with 0 when every message was answered, also when a call of a tool was refused or failed: the answer says so.
With 1 when an answer failed or was stopped, a message was refused, or no host answers. In a conversation on a terminal
only a lost host counts. With 2 for a wrong option; with 130 when Ctrl-C is pressed again before the answer has stopped.
`

/** The number of earlier turns that are shown when a session is continued. */
const HISTORY_TURNS = 10

/**
 * The time in which a second SIGINT belongs to the same Ctrl-C: the terminal sends it to this process and to npm, which
 * forwards it.
 */
const ECHO_MS = 500

/** The time for which a restarting host is waited for. */
const RECONNECT_LIMIT_MS = 30_000

interface Options {
  /** Empty for a conversation. */
  readonly question: string
  readonly sessionId: string | undefined
  readonly url: string | undefined
  readonly token: string | undefined
}

function parse(args: string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      session: { type: 'string' },
      url: { type: 'string' },
      token: { type: 'string' },
    },
  })
  if (values.help === true) return undefined
  const { session: sessionId, url, token } = values
  return { question: positionals.join(' ').trim(), sessionId, url, token }
}

async function run({ question, sessionId, url, token }: Options): Promise<number> {
  const root = join(import.meta.dirname, '..')
  const headers = credential({ env: process.env, root, token, url })
  const gateway: HostAddress = {
    url: url ?? gatewayUrl(process.env, root),
    ...('authorization' in headers ? { headers: () => headers } : {}),
  }
  const session = sessionId === undefined ? {} : { sessionId }
  if (sessionId !== undefined) await checkSession(new HostApi(gateway), sessionId)
  return question === '' ? talk(gateway, session) : ask(gateway, session, question)
}

/** Throws when a session has no messages: its id is mistyped, or it was deleted or has expired. */
async function checkSession(api: HostApi, sessionId: string): Promise<void> {
  try {
    await api.session(sessionId)
  } catch (error) {
    if (!(error instanceof HostError)) throw error
    const isUnknown = error.code === 'not-found' || error.code === 'invalid'
    const what = isUnknown ? `there is no session ${sessionId}` : error.message
    const remedy = isUnknown
      ? 'npm run chat begins one, and lists those there are with /sessions'
      : 'Start the host with: npm start'
    throw new CommandError(`${what}. ${remedy}`, { cause: error })
  }
}

function note(text: string): void {
  process.stderr.write(text)
}

/** Asks one question. The answer decides the exit code. */
async function ask(
  gateway: HostAddress,
  session: { sessionId?: string },
  question: string,
): Promise<number> {
  const printer = new TranscriptPrinter((text) => process.stdout.write(text), note)
  const { promise, resolve: end } = Promise.withResolvers<number>()
  const asked = crypto.randomUUID()
  // Other turns may be running in an existing session.
  let isMine = false
  const fail = (reason: string): void => {
    process.stderr.write(plain(`${reason}\n`))
    end(1)
  }
  const desk = new QuestionDesk({
    write: (text) => process.stdout.write(text),
    readLine: readLineAlone,
    answer: (answer) =>
      whenRefused(client.answer(answer), client, (error) => desk.refused(answer.id, error)),
  })
  const connection = new FollowConnection({
    url: gateway.url,
    onWelcome: () => undefined,
    onConnection: (message) => process.stderr.write(plain(`(${message})\n`)),
    onLost: fail,
  })
  const client = new SessionClient({
    ...gateway,
    ...session,
    giveUpAfterMs: RECONNECT_LIMIT_MS,
    onState: connection.onState,
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
  await connection.connected(client)
  whenRefused(client.say(question, { id: asked }), client, ({ message }) => fail(message))
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

/** Runs a conversation until Ctrl-C, or until the input ends and every message is answered. The answers to a script decide the exit code. */
async function talk(gateway: HostAddress, session: { sessionId?: string }): Promise<number> {
  const write = (text: string): boolean => process.stdout.write(text)
  const printer = new TranscriptPrinter(write, note)
  const { promise, resolve: leave } = Promise.withResolvers<number>()
  let terminal: Interface | undefined
  let isInputOver = false
  let unanswered = 0
  /** Whether a message of a script was refused or failed. */
  let hasFailed = false
  let sessionId = session.sessionId ?? ''
  let lastMessage: string | undefined
  /** The message whose answer is printed, and whether it was stopped. */
  let running: string | undefined
  let isStopping = false
  const next = (): void => {
    if (isInputOver && unanswered === 0) leave(hasFailed ? 1 : 0)
    else if (!isInputOver && process.stdin.isTTY) terminal?.prompt()
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
    answer: (answer) =>
      whenRefused(client.answer(answer), client, (error) => desk.refused(answer.id, error)),
  })
  const refused = ({ message }: HostError): void => {
    write(plain(`Not accepted: ${message}\n`))
    hasFailed ||= !process.stdin.isTTY
    answered()
  }
  const connection = new FollowConnection({
    url: gateway.url,
    onWelcome(message, id) {
      sessionId = id
      const hint = '/help lists commands. Ctrl-C stops an answer, else it leaves.'
      write(plain(`${message}\nSession ${id}. ${hint}\n\n`))
    },
    onConnection: (message) => write(plain(`(${message})\n`)),
    onLost(reason) {
      process.stderr.write(plain(`${reason}\n`))
      leave(1)
    },
  })
  const client = new SessionClient({
    ...gateway,
    ...session,
    giveUpAfterMs: RECONNECT_LIMIT_MS,
    onState: connection.onState,
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
        hasFailed ||= !process.stdin.isTTY && event.payload.outcome !== 'completed'
        answered()
      }
    },
  })
  const api = new HostApi(gateway)
  const commands = new ChatCommands({
    api,
    write,
    sessionId: () => sessionId,
    lastMessage: () => lastMessage,
    regenerate: (messageId, { model }) =>
      whenRefused(
        client.regenerate(messageId, model === undefined ? {} : { model }),
        client,
        refused,
      ),
    leave: () => leave(0),
    // npm runs this command in the folder of the package.
    folder: process.env['INIT_CWD'] ?? process.cwd(),
  })
  if (session.sessionId !== undefined) {
    const { messages } = await api.messages(session.sessionId, { limit: HISTORY_TURNS })
    lastMessage = messages.findLast(({ role }) => role === 'user')?.id
    write(historyText(messages))
  }
  await connection.connected(client)
  terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' })
  terminal.on('SIGINT', () => {
    if (running === undefined || isStopping) return leave(0)
    isStopping = true
    client.cancel(running)
    write('\n(stopping; Ctrl-C again leaves)\n')
  })
  /** Resolves when all lines so far are handled. Each line waits for the previous command. */
  let handled = Promise.resolve()
  const handle = async (line: string): Promise<void> => {
    const outcome = await commands.run(line)
    if (outcome === 'no-command') {
      whenRefused(client.say(line, commands.takeExtras()), client, refused)
    } else if (outcome === 'done') answered()
  }
  terminal.on('line', (line) => {
    unanswered++
    handled = handled.then(() => handle(line))
  })
  terminal.on('close', () => {
    isInputOver = true
    next()
  })
  next()
  const code = await promise
  terminal.close()
  client.close()
  write('\n')
  return code
}

/** Rejects when a frame is refused. The end of the client is reported by its connection. */
function whenRefused(
  { accepted }: Sent,
  client: SessionClient,
  refused: (error: HostError) => void,
): void {
  accepted.catch((error: unknown) => {
    if (error instanceof HostError && client.state.state !== 'ended') refused(error)
  })
}

stopWithLauncher()
await runCommand({ usage, parse, run })
