import type { Budgets } from '../../budget/budgets.ts'

/** Where no limits are set nobody asks for them. */
export const noBudgets: Pick<Budgets, 'enter'> = {
  enter() {
    throw new Error('no limits are set')
  },
}
