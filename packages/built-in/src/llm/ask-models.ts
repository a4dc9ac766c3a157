import type { HostModels, Question } from './ask.ts'
import type { OneAnswer } from './fields.ts'

interface Asking {
  readonly signal: AbortSignal
  /** The limit for each model, in milliseconds. */
  readonly limitMs: number
  /** Called when a model has answered or failed. */
  readonly onAnswer: (answer: OneAnswer) => void
}

/** Asks several models at once. One that fails or is slow does not fail the others. Rejects when the signal aborts. */
export async function askModels(
  host: HostModels,
  models: readonly string[],
  question: Omit<Question, 'model'>,
  { signal, limitMs, onAnswer }: Asking,
): Promise<OneAnswer[]> {
  const ask = async (model: string): Promise<OneAnswer> => {
    const limit = AbortSignal.timeout(limitMs)
    const answer = await host.ask({ ...question, model }, AbortSignal.any([signal, limit])).then(
      ({ text: response, model: answered, usage }) => ({
        model,
        response,
        ...(answered === model || answered.startsWith(`${model}/`) ? {} : { answeredBy: answered }),
        ...(usage === undefined ? {} : { usage }),
      }),
      (error: unknown) => ({ model, error: limit.aborted ? tooSlow(limitMs) : reasonOf(error) }),
    )
    if (!signal.aborted) onAnswer(answer)
    return answer
  }
  const answers = await Promise.all(models.map(ask))
  signal.throwIfAborted()
  return answers
}

function tooSlow(limitMs: number): string {
  return `it did not answer within ${Math.round(limitMs / 1_000)} s`
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
