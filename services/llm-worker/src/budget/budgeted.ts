import { BusError } from '@mcp-host/contracts'
import type { Model, StreamPart } from '../model.ts'
import type { Limits } from '../settings/llm-file.ts'
import type { Budgets } from './budgets.ts'

const PATIENCE_MS = 60_000

/** The error when a provider's budget is used up. It is no failure of the provider. */
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

/** A model whose requests wait for the provider's limits, which all workers share. */
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
