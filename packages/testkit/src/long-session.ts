import type { LogFact, SessionId, TurnEvent } from '@mcp-host/contracts'
import { childEnvelope, generationId, newEnvelope, newSessionId } from '@mcp-host/contracts'
import type { Broker } from './broker.ts'

/** The demo model's context is full after this many turns of these lengths. */
const SUMMARISE_EVERY = 250
const KEPT_TURNS = 30

const MODEL = { provider: 'demo', model: 'demo-1' }
const USAGE = { inputTokens: 10_000, outputTokens: 20 }

/**
 * Writes the log of `turns` turns with a message and an answer each, as the services write it. No orchestrator may
 * run meanwhile, because it would answer.
 */
export async function writeLongSession(
  broker: Broker,
  { turns }: { readonly turns: number },
): Promise<SessionId> {
  const bus = await broker.connect('long-session')
  const session = newSessionId()
  // The messages are answered below.
  await using _jobs = await bus.sessions.consumeInputs(async () => 'done')
  const inputs: number[] = []
  let seq = 0
  let fence = 0
  for (let turn = 0; turn < turns; turn++) {
    const envelope = newEnvelope('local')
    const append = async (fact: LogFact): Promise<number> => {
      const options = { envelope: childEnvelope(envelope), messageId: crypto.randomUUID() }
      ;({ seq } = await bus.sessions.append(session, fact, options))
      if (fact.kind === 'turn') fence = seq
      return seq
    }
    const messageId = `m${turn}`
    const text = `This is what the user says in turn ${turn}, in a sentence or so.`
    const input = await append({ kind: 'input', fact: { id: messageId, text } })
    inputs.push(input)
    const step = async (fact: WithoutBase<TurnEvent>): Promise<number> =>
      append({ kind: 'turn', fact: { ...fact, turn: input, seen: seq } })
    const generation = generationId(session, fence)
    await step({ type: 'turn-claimed', messageId, orchestrator: 'o', epoch: 1, generation })
    const through = turn % SUMMARISE_EVERY === 0 ? inputs.at(-KEPT_TURNS) : undefined
    if (through !== undefined) {
      const tokens = { tokensBefore: 21_000, tokensAfter: 3_000 }
      const summary = 'The user says sentences, and they are answered.'
      await step({ type: 'context-compacted', how: 'summarised', through, summary, ...tokens })
    }
    const answer = `This is what the model answers in turn ${turn}, which takes some more words.`
    const content = [{ type: 'text' as const, text: answer }]
    const result = { generation, outcome: 'completed' as const, content, usage: USAGE, ...MODEL }
    await append({ kind: 'generation', fact: result })
    const usage = [{ ...USAGE, ...MODEL, generations: 1 }]
    await step({ type: 'turn-done', messageId, outcome: 'completed', usage })
  }
  return session
}

type WithoutBase<T> = T extends unknown ? Omit<T, 'turn' | 'seen'> : never
