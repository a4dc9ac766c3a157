import { BusError } from '@mcp-host/contracts'
import type { Model, ModelRequest, StreamPart } from '../../model.ts'
import type { Clock } from './clock.ts'
import { pace, wordTokens } from './pace.ts'
import { playStep } from './play-step.ts'
import type { PlayOptions } from './play-step.ts'
import { demoReply } from './reply.ts'
import type { DemoReply } from './reply.ts'
import { readScript, scriptStep } from './script.ts'
import { readTurn } from './turn.ts'
import { estimateTokens, usageMeter } from '../../usage.ts'

export interface DemoModelDeps {
  readonly clock: Clock
}

export interface DemoModelOptions {
  /** How fast text and reasoning are written; 0 or Infinity is as fast as possible. */
  readonly tokensPerSecond: number
  /** Longer conversations are refused. */
  readonly contextTokens: number
  /** Obey user messages that are a script. For tests only. */
  readonly scripted: boolean
}

const NOTICE =
  'This is the built-in demonstration model: it understands little, but it really runs your tools. Set GEMINI_API_KEY to talk to a real model.'

/** A rule-based stand-in for a language model, so that the host can be tried without any key. */
export function demoModel({ clock }: DemoModelDeps, options: DemoModelOptions): Model {
  return {
    provider: 'demo',
    model: 'demo-1',
    contextWindow: options.contextTokens,
    notice: NOTICE,
    async *stream(request, { signal }) {
      const tokens = estimateTokens(request)
      if (tokens > options.contextTokens) {
        const message = `the conversation has about ${tokens} tokens, more than the ${options.contextTokens} that the demo model takes`
        throw new BusError('invalid', message, { reason: 'context-overflow' })
      }
      const usage = usageMeter(request)
      const play = { tokensPerSecond: options.tokensPerSecond, signal }
      for await (const part of parts(clock, request, options.scripted, play)) {
        usage.add(part)
        yield part
      }
      yield { type: 'end', usage: usage.read() }
    },
  }
}

function parts(
  clock: Clock,
  request: ModelRequest,
  isScripted: boolean,
  play: PlayOptions,
): AsyncIterable<StreamPart> {
  if (isScripted) {
    const { text, rounds } = readTurn(request.messages)
    const script = readScript(text)
    if (script !== undefined) return playStep(clock, scriptStep(script, rounds.length), play)
  }
  return writeReply(clock, demoReply(request), play)
}

async function* writeReply(
  clock: Clock,
  { reasoning, text, call }: DemoReply,
  play: PlayOptions,
): AsyncGenerator<StreamPart> {
  for await (const word of pace(clock, wordTokens(reasoning), play)) {
    yield { type: 'reasoning-delta', text: word }
  }
  yield { type: 'block-end' }
  if (text !== undefined) {
    for await (const word of pace(clock, wordTokens(text), play)) {
      yield { type: 'text-delta', text: word }
    }
    yield { type: 'block-end' }
  }
  if (call !== undefined) yield { type: 'tool-call', ...call }
}
