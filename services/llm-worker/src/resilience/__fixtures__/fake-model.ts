import type { Model, StreamPart } from '../../model.ts'
import { sleep } from '@mcp-host/async'

/** A step of a model: yield a part, throw, or wait for milliseconds. */
export type Step = StreamPart | Error | number

export const textDelta = (text: string): StreamPart => ({ type: 'text-delta', text })
export const end: StreamPart = { type: 'end' }

/** A model with one list of steps per request; the last list repeats. */
export class FakeModel implements Model {
  readonly model = 'fake-1'
  readonly provider: string
  requests = 0
  /** Answers that the reader left before their end. */
  abandoned = 0
  readonly #answers: readonly (readonly Step[])[]

  constructor(provider: string, ...answers: readonly (readonly Step[])[]) {
    this.provider = provider
    this.#answers = answers
  }

  async *stream(_: unknown, { signal }: { signal: AbortSignal }): AsyncGenerator<StreamPart> {
    const steps = this.#answers[Math.min(this.requests, this.#answers.length - 1)] ?? []
    this.requests++
    let hasEnded = false
    try {
      for (const step of steps) {
        if (step instanceof Error) throw step
        if (typeof step === 'number') await sleep(step, signal)
        else yield step
      }
      hasEnded = true
    } finally {
      if (!hasEnded) this.abandoned++
    }
  }
}

/** The parts of an answer until its end or error. */
export async function read(
  model: Model,
  signal = AbortSignal.any([]),
): Promise<{ parts: StreamPart[]; error: unknown }> {
  const parts: StreamPart[] = []
  try {
    for await (const part of model.stream({ messages: [], tools: [] }, { signal })) parts.push(part)
    return { parts, error: undefined }
  } catch (error) {
    return { parts, error }
  }
}
