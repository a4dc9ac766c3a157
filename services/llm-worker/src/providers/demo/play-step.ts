import { BusError } from '@mcp-host/contracts'
import type { StreamPart } from '../../model.ts'
import type { Clock } from './clock.ts'
import { pace, wordTokens } from './pace.ts'
import type { ScriptStep } from './script.ts'

export interface PlayOptions {
  readonly tokensPerSecond: number
  readonly signal: AbortSignal
}

/** Plays one step of a script: reasoning, text, calls, then the hang, each as far as given. */
export async function* playStep(
  clock: Clock,
  step: ScriptStep,
  { tokensPerSecond, signal }: PlayOptions,
): AsyncGenerator<StreamPart> {
  const rate = step.tokensPerSecond ?? tokensPerSecond
  let left = step.error?.afterTokens ?? Infinity
  let open: StreamPart['type'] | undefined
  for await (const token of pace(clock, stepTokens(step), { tokensPerSecond: rate, signal })) {
    if (left-- <= 0) break
    if (open !== undefined && open !== token.type) yield { type: 'block-end' }
    open = token.type
    yield { type: token.type, text: token.text === STAMP ? `${stamp(clock)} ` : token.text }
  }
  if (step.error !== undefined) throw toBusError(step.error)
  if (open !== undefined) yield { type: 'block-end' }
  for (const call of step.calls ?? []) {
    const raw = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
    yield { type: 'tool-call', name: call.name, arguments: raw }
  }
  if (step.hang === true) await aborted(signal)
}

function toBusError({ code, message, overflow }: NonNullable<ScriptStep['error']>): BusError {
  return overflow === true
    ? new BusError(code ?? 'invalid', message, { reason: 'context-overflow' })
    : new BusError(code ?? 'unavailable', message)
}

interface Token {
  readonly type: 'text-delta' | 'reasoning-delta'
  /** `STAMP` stands for the time at which the token goes out. */
  readonly text: string | typeof STAMP
}

const STAMP = Symbol('stamp')

function* stepTokens(step: ScriptStep): Generator<Token> {
  const { reasoning, text, tokens = 0 } = step
  for (const word of wordTokens(reasoning ?? '')) yield { type: 'reasoning-delta', text: word }
  for (const word of wordTokens(text ?? '')) yield { type: 'text-delta', text: word }
  for (let index = 0; index < tokens; index++) {
    yield { type: 'text-delta', text: step.stamp === true ? STAMP : `w${index} ` }
  }
}

function stamp(clock: Clock): number {
  return Math.round(clock.now() * 1000)
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.throwIfAborted()
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
