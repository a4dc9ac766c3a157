import type { Budgets } from '../../budget/budgets.ts'

/** Budgets for providers without limits, which are never entered. */
export const noBudgets: Pick<Budgets, 'enter'> = {
  enter() {
    throw new Error('no limits are set')
  },
}
