import type { Model, StreamPart } from '../../model.ts'
import { sleep } from '@mcp-host/service'

/** What a model does next: give a part, fail, or wait so many milliseconds. */
export type Step = StreamPart | Error | number

export const said = (text: string): StreamPart => ({ type: 'text-delta', text })
export const end: StreamPart = { type: 'end' }

/** A model that does these steps, each time it is asked the next of them. */
export class FakeModel implements Model {
  readonly model = 'fake-1'
  readonly provider: string
  asked = 0
  /** How often it was left before its end. */
  left = 0
  readonly #answers: readonly (readonly Step[])[]

  constructor(provider: string, ...answers: readonly (readonly Step[])[]) {
    this.provider = provider
    this.#answers = answers
  }

  async *stream(_: unknown, { signal }: { signal: AbortSignal }): AsyncGenerator<StreamPart> {
    const steps = this.#answers[Math.min(this.asked, this.#answers.length - 1)] ?? []
    this.asked++
    let hasEnded = false
    try {
      for (const step of steps) {
        if (step instanceof Error) throw step
        if (typeof step === 'number') await sleep(step, signal)
        else yield step
      }
      hasEnded = true
    } finally {
      if (!hasEnded) this.left++
    }
  }
}

/** What a model gives until its end, or until it fails. */
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
