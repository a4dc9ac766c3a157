import { BusError } from '@mcp-host/contracts'
import type { Model, StreamPart } from '../model.ts'
import type { Limits } from '../settings/llm-file.ts'
import type { Budgets } from './budgets.ts'

const PATIENCE_MS = 60_000

/** The budget of a provider is used up for the moment; the provider is not at fault. */
export class BudgetError extends BusError {
  constructor(provider: string) {
    super('exhausted', `${provider} has as much to do as it may`)
  }
}

export interface BudgetOptions {
  readonly budgets: Pick<Budgets, 'enter'>
  readonly limits: Limits | undefined
  /** The time limit for a slot, in milliseconds. */
  readonly patienceMs: number | undefined
}

/** A model that is asked no more than its provider may be, by all workers together. */
export function budgeted(
  model: Model,
  { budgets, limits, patienceMs = PATIENCE_MS }: BudgetOptions,
): Model {
  if (limits === undefined) return model
  return {
    ...model,
    async *stream(request, { signal }): AsyncGenerator<StreamPart> {
      const late = new AbortController()
      const timer = setTimeout(() => late.abort(new BudgetError(model.provider)), patienceMs)
      const either = AbortSignal.any([signal, late.signal])
      using _room = await budgets
        .enter(model.provider, limits, either)
        .finally(() => clearTimeout(timer))
      yield* model.stream(request, { signal })
    },
  }
}
