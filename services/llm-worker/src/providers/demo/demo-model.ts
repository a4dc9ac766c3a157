import { BusError } from '@mcp-host/contracts'
import type { Model, ModelRequest } from '../../model.ts'
import type { Clock } from './clock.ts'
import { demoReply } from './demo-reply.ts'
import { playStep } from './play-step.ts'
import type { ScriptStep } from './script.ts'
import { readScriptStep } from './script.ts'
import { readTurn } from './turn.ts'
import { estimateTokens, usageMeter } from '../../usage.ts'

export interface DemoModelOptions {
  /** The output speed for text and reasoning; 0 or Infinity: no delay. */
  readonly tokensPerSecond: number
  /** The context window; longer conversations are refused. */
  readonly contextTokens: number
  /** Whether user messages that are scripts are obeyed. For tests only. */
  readonly scripted: boolean
  /** How a user gets a real model, in a sentence. */
  readonly realModelHint: string
}

const NOTICE =
  'This is the built-in demonstration model: it understands little, but it really runs your tools.'

/** A rule-based stand-in for a language model, so that the host can be tried without any key. */
export function demoModel({ clock }: { readonly clock: Clock }, options: DemoModelOptions): Model {
  return {
    provider: 'demo',
    model: 'demo-1',
    contextWindow: options.contextTokens,
    notice: `${NOTICE} ${options.realModelHint}`,
    async *stream(request, { signal }) {
      const tokens = estimateTokens(request)
      if (tokens > options.contextTokens) {
        const message = `the conversation has about ${tokens} tokens, more than the ${options.contextTokens} that the demo model takes`
        throw new BusError('invalid', message, { reason: 'context-overflow' })
      }
      const usage = usageMeter(request)
      const pace = { tokensPerSecond: options.tokensPerSecond, signal }
      for (const step of stepsOf(request, options)) {
        for await (const part of playStep(clock, step, pace)) {
          usage.add(part)
          yield part
        }
      }
      yield { type: 'end', usage: usage.read() }
    },
  }
}

/** One generation, as a step of a script or as the demo model's own reply. */
function stepsOf(
  { messages, tools }: ModelRequest,
  { scripted: isScripted, realModelHint }: DemoModelOptions,
): ScriptStep[] {
  const turn = readTurn(messages)
  const step = isScripted ? readScriptStep(turn.text, turn.rounds.length) : undefined
  return step === undefined ? demoReply(turn, tools, realModelHint) : [step]
}
