import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ChatSocket, eventually, startStack, testFolder } from '@mcp-host/testkit'
import { quantiles } from '../quantile.ts'
import { startProvider } from './provider.ts'

const CANCELS = 100
/** A cancel comes at a random time within this after the first word, or after the call began. */
const SPREAD_MS = 400
const GOAL_MS = 250

interface JournalEntry {
  readonly event: 'call' | 'cancelled'
  readonly id: string
  readonly at: number
}

/** Cancels turns at random times, half of them while a model writes and half while a tool runs. */
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
  const journalled = (event: JournalEntry['event'], message: string): Promise<JournalEntry> =>
    eventually(
      async () => {
        const lines = (await readFile(journalFile, 'utf8')).split('\n')
        const entries = lines.filter(Boolean).map((line) => JSON.parse(line) as JournalEntry)
        return entries.find((entry) => entry.event === event && entry.id === message)
      },
      { what: event },
    )
  const models: number[] = []
  const tools: number[] = []
  const turns: number[] = []
  let works = 0
  for (let round = 0; round < CANCELS; round++) {
    using chat = await ChatSocket.open(stack)
    const isTool = round % 2 === 1
    const message = `${isTool ? 'call' : 'write'} ${round}`
    chat.say(message)
    if (isTool) await journalled('call', message)
    else await chat.waitFor(({ type }) => type === 'text')
    await delay(Math.random() * SPREAD_MS)
    const at = performance.now()
    chat.send({ type: 'cancel' })
    await chat.turnsDone()
    turns.push(performance.now() - at)
    if (isTool) {
      const cancelled = await journalled('cancelled', message)
      tools.push(cancelled.at - (performance.timeOrigin + at))
    } else {
      const cut = await eventually(() => provider.cuts.get(message), { what: 'the cut' })
      models.push(cut - at)
    }
    chat.say('and now?')
    await chat.turnsDone(2)
    if (chat.text.endsWith('ok')) works++
  }
  const figures = {
    providerClosedMs: quantiles(models, 'p50', 'p99', 'max'),
    toolToldMs: quantiles(tools, 'p50', 'p99', 'max'),
    turnDoneMs: quantiles(turns, 'p50', 'p99', 'max'),
    nextTurnWorks: `${works}/${CANCELS}`,
    goalMs: GOAL_MS,
  }
  console.log(figures)
  const slowest = Math.max(figures.providerClosedMs.p99, figures.toolToldMs.p99)
  if (works < CANCELS || slowest > GOAL_MS) process.exitCode = 1
  return figures
}
