import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ChatSocket, eventually, startStack, testFolder } from '@mcp-host/testkit'
import { quantile } from '../quantile.ts'
import { startProvider } from './provider.ts'

const CANCELS = 100
/** A cancel comes at a random moment of this time after the first word, or after the call began. */
const SPREAD_MS = 400
const GOAL_MS = 250

interface Journal {
  readonly what: string
  readonly id: string
  readonly at: number
}

/** Cancels turns at random moments, half of them while a model writes and half while a tool runs. */
export async function benchCancel(): Promise<object> {
  await using folder = await testFolder()
  await using provider = await startProvider()
  const journalFile = join(folder.path, 'journal.jsonl')
  await writeFile(journalFile, '')
  const program = join(import.meta.dirname, 'tool-server.ts')
  await using stack = await startStack({
    tools: [{ name: 'unused', inputSchema: { type: 'object' } }],
    servers: { minute: { command: process.execPath, args: [program, journalFile] } },
    env: {
      LLM_PROVIDER: 'gemini',
      GEMINI_API_KEY: 'none',
      GEMINI_BASE_URL: `${provider.url}/v1beta`,
      DEMO_SCRIPTED: 'false',
    },
  })
  const journal = async (): Promise<Journal[]> =>
    (await readFile(journalFile, 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Journal)
  const models: number[] = []
  const tools: number[] = []
  const turns: number[] = []
  let works = 0
  for (let round = 0; round < CANCELS; round++) {
    using chat = await ChatSocket.open(stack)
    const isTool = round % 2 === 1
    const message = `${isTool ? 'call' : 'write'} ${round}`
    chat.say(message)
    if (isTool) {
      const hasCome = async (): Promise<boolean> =>
        (await journal()).some(({ id }) => id === message)
      await eventually(hasCome, { what: 'the call' })
    } else await chat.waitFor(({ type }) => type === 'text')
    await delay(Math.random() * SPREAD_MS)
    const at = performance.now()
    chat.send({ type: 'cancel' })
    await chat.turnsDone()
    turns.push(performance.now() - at)
    if (isTool) {
      const told = await eventually(
        async () =>
          (await journal()).find(({ what, id }) => what === 'cancelled' && id === message),
        { what: 'the cancellation' },
      )
      tools.push(told.at - (performance.timeOrigin + at))
    } else {
      const cut = await eventually(() => provider.cuts.get(message), { what: 'the cut' })
      models.push(cut - at)
    }
    chat.say('and now?')
    await chat.turnsDone(2)
    if (chat.text.endsWith('ok')) works++
  }
  const part = (values: readonly number[]) => ({
    p50: quantile(values, 0.5),
    p99: quantile(values, 0.99),
    max: quantile(values, 1),
  })
  const figures = {
    providerClosedMs: part(models),
    toolToldMs: part(tools),
    turnDoneMs: part(turns),
    nextTurnWorks: `${works}/${CANCELS}`,
    goalMs: GOAL_MS,
  }
  console.log(figures)
  const slowest = Math.max(figures.providerClosedMs.p99, figures.toolToldMs.p99)
  if (works < CANCELS || slowest > GOAL_MS) process.exitCode = 1
  return figures
}
