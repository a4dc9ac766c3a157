import { BusError } from '@mcp-host/contracts'
import { aborted } from '@mcp-host/async'
import type { StreamPart } from '../../model.ts'
import type { Clock } from './clock.ts'
import type { PaceOptions } from './pace.ts'
import { pace, wordTokens } from './pace.ts'
import type { ScriptStep } from './script.ts'

/** Plays one step of a script: its reasoning, text and calls, then the error or hang. */
export async function* playStep(
  clock: Clock,
  step: ScriptStep,
  { tokensPerSecond, signal }: PaceOptions,
): AsyncGenerator<StreamPart> {
  const rate = step.tokensPerSecond ?? tokensPerSecond
  let left = step.error?.afterTokens ?? Infinity
  let open: StreamPart['type'] | undefined
  for await (const token of pace(clock, stepTokens(step), { tokensPerSecond: rate, signal })) {
    if (left-- <= 0) break
    if (open !== undefined && open !== token.type) yield { type: 'block-end' }
    open = token.type
    const isStamped = step.stamp === true && token.type === 'text-delta'
    // The time of the emission, in microseconds.
    yield isStamped ? { ...token, text: `${Math.round(clock.now() * 1000)} ` } : token
  }
  if (step.error !== undefined) throw toBusError(step.error)
  if (open !== undefined) yield { type: 'block-end' }
  for (const { name, arguments: given } of step.calls ?? []) {
    const text = typeof given === 'string' ? given : JSON.stringify(given)
    yield { type: 'tool-call', name, arguments: text }
  }
  if (step.hang === true) {
    await aborted(signal)
    signal.throwIfAborted()
  }
}

function toBusError({ code, message, overflow }: NonNullable<ScriptStep['error']>): BusError {
  return overflow === true
    ? new BusError(code ?? 'invalid', message, { reason: 'context-overflow' })
    : new BusError(code ?? 'unavailable', message)
}

function* stepTokens({ reasoning = '', text = '', tokens = 0 }: ScriptStep) {
  for (const word of wordTokens(reasoning)) yield { type: 'reasoning-delta', text: word } as const
  for (const word of wordTokens(text)) yield { type: 'text-delta', text: word } as const
  for (let index = 0; index < tokens; index++) {
    yield { type: 'text-delta', text: `w${index} ` } as const
  }
}
