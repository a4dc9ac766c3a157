import { useCallback, useState } from 'react'
import type { TurnStore } from '../state/thread.ts'

/** The turns that must stay in the page out of view. `indexes`: their places. `keep`: adds a turn, or takes it out. */
export function useKept(turns: readonly TurnStore[]): {
  readonly indexes: readonly number[]
  readonly keep: (id: string, isKept: boolean) => void
} {
  const [kept, setKept] = useState<readonly string[]>([])
  const keep = useCallback((id: string, isKept: boolean): void => {
    setKept((before) => [...before.filter((each) => each !== id), ...(isKept ? [id] : [])])
  }, [])
  const indexes = turns.flatMap((turn, index) => (kept.includes(turn.get().id) ? index : []))
  return { indexes, keep }
}
