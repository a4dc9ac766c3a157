// Clients of the host of the compose file that never stop: what they see is what an operator's work costs.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { SessionClient } from '@mcp-host/client'
import type { ComposeProject } from '@mcp-host/testkit'
import { eventually } from '@mcp-host/testkit'

const CHATS = 4
const CALLERS = 4
const CALLS = [
  { name: 'everything__echo', arguments: { message: 'again' } },
  { name: 'filesystem__list_directory', arguments: { path: '/files' } },
]
/** For a turn that waits for an outage to end. */
const TURN_LIMIT_MS = 120_000
/** Calls of each client in a second, at most. */
const CALL_EVERY_MS = 100

export type Headers = Readonly<Record<string, string>>

/** What clients have seen. */
export interface Figures {
  turns: number
  /** Turns that ended otherwise than by an answer, or not at all. */
  readonly failedTurns: string[]
  calls: number
  readonly failedCalls: string[]
  /** The longest time without the end of a call. */
  longestGapMs: number
}

export async function createKey(project: ComposeProject, name: string): Promise<Headers> {
  const output = await project.compose('run', '--rm', 'tools', 'keys', 'create', name)
  return { authorization: `Bearer ${/mh_\w+/.exec(output)?.[0]}` }
}

export async function connect(url: string, headers: Headers): Promise<Client & AsyncDisposable> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
  )
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() })
}

/** Chats and calls tools while `work` runs. */
export async function underLoad(
  url: string,
  headers: Headers,
  work: () => Promise<unknown>,
): Promise<Figures> {
  const figures: Figures = { turns: 0, failedTurns: [], calls: 0, failedCalls: [], longestGapMs: 0 }
  const stop = new AbortController()
  const clients = Array.from({ length: CHATS }, () =>
    chat(url, { headers, signal: stop.signal, figures }),
  )
  const callers = Array.from({ length: CALLERS }, () =>
    call(url, { headers, signal: stop.signal, figures }),
  )
  try {
    await eventually(() => figures.turns > 0 && figures.calls > 0, { limitMs: 60_000 })
    await work()
    const { turns, calls } = figures
    await eventually(() => figures.turns > turns && figures.calls > calls, {
      what: 'another turn and call',
      limitMs: TURN_LIMIT_MS,
    })
  } finally {
    stop.abort()
    await Promise.all([...clients, ...callers])
  }
  return figures
}

interface LoadOptions {
  readonly headers: Headers
  readonly signal: AbortSignal
  readonly figures: Figures
}

async function chat(url: string, { headers, signal, figures }: LoadOptions): Promise<void> {
  const ended = new Map<string, string>()
  const session = new SessionClient({
    url,
    headers: () => headers,
    onEvent: (event) => {
      if (event.type !== 'turn' || event.payload.state !== 'done') return
      const { messageId = '', outcome } = event.payload
      ended.set(messageId, outcome)
    },
  })
  while (!signal.aborted) {
    const id = crypto.randomUUID()
    void say(session, id)
    const outcome = await eventually(() => ended.get(id), { limitMs: TURN_LIMIT_MS }).catch(
      () => 'without an end',
    )
    figures.turns++
    if (outcome !== 'completed') figures.failedTurns.push(outcome)
  }
  session.close()
}

/** Sends a message until it is accepted: a host that cannot store refuses it. */
async function say(session: SessionClient, id: string): Promise<void> {
  const isAccepted = (): Promise<boolean> =>
    session.say('list the directory /files', { id }).accepted.then(
      () => true,
      // The end of the client, too: nobody waits for the turn.
      () => session.state.state === 'ended',
    )
  await eventually(isAccepted, { limitMs: TURN_LIMIT_MS }).catch(() => undefined)
}

async function call(url: string, { headers, signal, figures }: LoadOptions): Promise<void> {
  await using client = await connect(url, headers)
  let endedAt = performance.now()
  while (!signal.aborted) {
    const next = CALLS[figures.calls++ % CALLS.length] ?? { name: '' }
    const failure = await client
      .callTool(next)
      .then(
        ({ isError, content }) => (isError === true ? JSON.stringify(content) : undefined),
        String,
      )
    if (failure !== undefined)
      figures.failedCalls.push(`${next.name}: ${failure.replace(/<[^>]*>|\s+/g, ' ')}`)
    const gapMs = performance.now() - endedAt
    endedAt = performance.now()
    if (failure === undefined) figures.longestGapMs = Math.max(figures.longestGapMs, gapMs)
    await new Promise((resolve) => setTimeout(resolve, CALL_EVERY_MS))
  }
}
